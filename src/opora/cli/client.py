"""The HTTP surface as commands use it: envelopes opened, errors turned into `ApiError`, streams read frame by frame."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx2

    from opora.settings import Settings

PREFIX = "/api/v1"
TIMEOUT_SECONDS = 300


class ApiError(Exception):
    """The service refused or failed; ``code`` is the stable word of the error."""

    def __init__(self, message: str, *, status: int, code: str = "", hint: str = "", details: Any = None) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.hint = hint
        self.details: dict[str, Any] = details if isinstance(details, dict) else {}


class Client:
    """One open connection to the service, wherever it runs."""

    def __init__(self, http: httpx2.AsyncClient, *, address: str) -> None:
        self._http = http
        self.address = address
        """Where the service listens; empty when it runs inside this process."""

    async def call(self, method: str, path: str, **options: Any) -> Any:
        """The ``data`` of the answer; ``path`` follows the prefix. Raises `ApiError`."""
        return (await self.envelope(method, path, **options)).get("data")

    async def envelope(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        """The whole answer, with ``total`` and the like."""
        response = await self._http.request(method, PREFIX + path, **options)
        body = _json(response.content)
        if response.status_code >= 400:
            raise error_of(response.status_code, body)
        return body

    async def events(self, path: str, body: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """The frames of a streamed answer as objects."""
        async with self._http.stream("POST", PREFIX + path, json=body, timeout=None) as response:
            if response.status_code >= 400:
                raise error_of(response.status_code, _json(await response.aread()))
            async for line in response.aiter_lines():
                if line.startswith("data:"):
                    yield json.loads(line[5:])


@asynccontextmanager
async def connect(settings: Settings) -> AsyncIterator[Client]:
    """Talk to the server that owns the data folder, or open the folder here, under its lock.

    Raises `Busy` when another process holds the folder without serving.
    """
    import httpx2

    from opora.bootstrap import App, serving_at

    address = serving_at(settings)
    if address:
        async with open_client(address, settings) as client:
            yield client
        return
    from opora.api.app import create_app
    from opora.cli.transport import InProcessTransport

    app = await App.open(settings)
    try:
        async with httpx2.AsyncClient(
            transport=InProcessTransport(create_app(app)),
            base_url="http://127.0.0.1",
            headers=_headers(settings),
            timeout=TIMEOUT_SECONDS,
        ) as http:
            yield Client(http, address="")
    finally:
        await app.close()


@asynccontextmanager
async def open_client(address: str, settings: Settings) -> AsyncIterator[Client]:
    """Talk to a server at an address, past any proxy of the environment."""
    import httpx2

    async with httpx2.AsyncClient(
        base_url=address, headers=_headers(settings), trust_env=False, timeout=TIMEOUT_SECONDS
    ) as http:
        yield Client(http, address=address)


def _headers(settings: Settings) -> dict[str, str]:
    return {"Authorization": f"Bearer {settings.api_key.get_secret_value()}"} if settings.api_key else {}


def _json(content: bytes) -> dict[str, Any]:
    try:
        body = json.loads(content)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def error_of(status: int, body: Mapping[str, Any]) -> ApiError:
    """The error in an envelope."""
    error = body.get("error")
    error = error if isinstance(error, dict) else {}
    details = error.get("details")
    details = details if isinstance(details, dict) else {}
    return ApiError(
        str(error.get("message") or f"The service answered {status}."),
        status=status,
        code=str(details.get("code") or error.get("name") or ""),
        hint=str(error.get("hint") or details.get("hint") or ""),
        details=details,
    )
