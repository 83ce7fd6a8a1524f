"""The HTTP surface as tools use it, with the rights of whoever calls the tool."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx2

API = "/api/v1"


class Refused(Exception):
    """The service said no, or can't be reached; the message is for the assistant and those who read along."""


class Service:
    """``headers`` hold the caller's key, so that a tool may do what its caller may."""

    def __init__(self, http: httpx2.AsyncClient, headers: Mapping[str, str] | None = None) -> None:
        self._http = http
        self._headers = dict(headers or {})

    async def call(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        """The body of the answer. Raises `Refused`."""
        import httpx2

        try:
            response = await self._http.request(method, path, headers=self._headers, **options)
        except (httpx2.HTTPError, OSError) as error:
            raise Refused(f"Opora can't be reached: {error or type(error).__name__}. Try again.") from error
        return _body(response.status_code, response.content)

    async def events(self, path: str, body: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """The frames of a streamed answer."""
        import httpx2

        try:
            async with self._http.stream("POST", path, json=body, headers=self._headers, timeout=None) as response:
                if response.status_code >= 400:
                    _body(response.status_code, await response.aread())
                left = b""
                async for piece in response.aiter_bytes():
                    *lines, left = (left + piece).split(b"\n")
                    for line in lines:
                        if line.startswith(b"data:"):
                            yield json.loads(line[5:])
        except (httpx2.HTTPError, OSError) as error:
            raise Refused(f"The answer broke off: {error or type(error).__name__}. Ask again.") from error


def _body(status: int, content: bytes) -> dict[str, Any]:
    try:
        body = json.loads(content)
    except ValueError:
        body = {}
    body = body if isinstance(body, dict) else {}
    if status < 400:
        return body
    error = body.get("error")
    error = error if isinstance(error, dict) else {}
    raise Refused(" ".join(filter(None, (str(error.get("message") or f"Refused ({status})."), error.get("hint")))))
