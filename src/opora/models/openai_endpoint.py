"""One OpenAI-compatible endpoint: address, key, and what its refusals mean."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from opora.domain.errors import InvalidInput, ModelError, OporaError, Timeout, TooLarge, Unavailable
from opora.models.openai_stream import error_text
from opora.net.addresses import AddressPolicy
from opora.net.client import GuardedClient, Opened

MAX_ERROR_BYTES = 64 * 1024
_PLAIN_NAMES = {"URL": "the model's address", "KEY": "the model's key", "MODEL": "the model's name"}


def policy_for(url: str, setting: str) -> AddressPolicy:
    """Lets the host and port of an address that an administrator configured through, and no other inner one."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return AddressPolicy(allowed_hosts=frozenset({f"{(parts.hostname or '').lower()}:{port}"}), setting=setting)


class Endpoint:
    """Posts JSON to paths below a base address. The key goes into the header only, never into an error or a log."""

    def __init__(self, url: str, *, key: str = "", setting: str, client: GuardedClient | None = None) -> None:
        """``setting`` begins the names of the settings that hints mention, such as ``OPORA_CHAT``; '' for a model that
        is not named by settings."""
        self._names = {name: f"{setting}_{name}" if setting else _PLAIN_NAMES[name] for name in _PLAIN_NAMES}
        if urlsplit(url).scheme not in ("http", "https"):
            hint = f"Set {self._names['URL']}, such as http://host/v1."
            raise InvalidInput(f"'{url}' is not an http address.", hint=hint)
        self._url = url.rstrip("/")
        self._key = key
        self._client = client or GuardedClient(policy_for(url, f"{setting}_URL"))
        self._owned = client is None

    @asynccontextmanager
    async def post(self, path: str, body: Mapping[str, Any], *, max_bytes: int) -> AsyncIterator[Opened]:
        """A response of status 200; everything else is a `ModelError`."""
        headers = {"authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            async with self._client.open(
                "POST", f"{self._url}{path}", headers=headers, json=body, max_bytes=max_bytes
            ) as opened:
                if opened.status != 200:
                    raise await self._refusal(opened)
                yield opened
        except ModelError:
            raise
        except (Unavailable, Timeout, TooLarge, InvalidInput) as error:
            final = isinstance(error, InvalidInput)
            hint = error.hint or f"Check {self._names['URL']} and that the service is up."
            raise ModelError(
                f"The model can't be used: {error.message}", hint=hint, details={**error.details, "final": final}
            ) from error

    async def close(self) -> None:
        if self._owned:
            await self._client.close()

    async def _refusal(self, opened: Opened) -> ModelError:
        status = opened.status
        details: dict[str, Any] = {"status": status, "final": status in (401, 403, 404)}
        if opened.headers.get("retry-after", "").isdecimal():
            details["retry_after"] = float(opened.headers["retry-after"])
        url, key, model = (self._names[name] for name in _PLAIN_NAMES)
        hints = {
            401: f"Check {key}.",
            403: f"Check {key} and what it may use.",
            404: f"Check {url} and {model}.",
            429: "The provider limits calls: try again later.",
        }
        return ModelError(
            f"The model's service answered {status}: {await self._reason(opened)}",
            hint=hints.get(status, f"Check {url} and {model}, or try again later."),
            details=details,
        )

    async def _reason(self, opened: Opened) -> str:
        if opened.status in (401, 403):
            return "the key is refused."  # providers repeat parts of the key in their own words
        try:
            text = (await opened.read())[:MAX_ERROR_BYTES].decode("utf-8", "replace")
        except OporaError:
            return "no reason given."
        try:
            text = error_text(json.loads(text))
        except ValueError:
            text = text.strip()[:300] or "no reason given."
        return text.replace(self._key, "***") if self._key else text
