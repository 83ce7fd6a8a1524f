"""The HTTP surface as commands use it: envelopes opened, errors turned into `ApiError`, streams read frame by frame."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from opora.domain.errors import Busy

if TYPE_CHECKING:
    import httpx2

    from opora.mcp.service import Service
    from opora.settings import Settings

PREFIX = "/api/v1"
TIMEOUT_SECONDS = 300


class ApiError(Exception):
    """The service refused, failed or can't be reached; ``code`` is the stable word of the error."""

    def __init__(
        self, message: str, *, status: int, code: str = "", hint: str = "", details: Any = None, data: Any = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        """0 when there was no answer at all."""
        self.code = code
        self.hint = hint
        self.details: dict[str, Any] = details if isinstance(details, dict) else {}
        self.data = data
        """The existing row, where something is there already."""


class Client:
    """One open connection to the service, wherever it runs."""

    def __init__(
        self, http: httpx2.AsyncClient, *, address: str, idle: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self._http = http
        self._idle = idle
        self.address = address
        """Where the service listens; empty when it runs inside this process."""

    async def call(self, method: str, path: str, **options: Any) -> Any:
        """The ``data`` of the answer; ``path`` follows the prefix. Raises `ApiError`."""
        return (await self.envelope(method, path, **options))["data"]

    async def envelope(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        """The whole answer, with ``total`` and the like."""
        with _reached(self.address):
            response = await self._http.request(method, PREFIX + path, **options)
        body = _json(response.content)
        if response.status_code >= 400:
            raise error_of(response.status_code, body)
        if "data" not in body:
            raise ApiError(f"What listens at {self.address} is not Opora.", status=response.status_code)
        return body

    async def download(self, path: str, params: Mapping[str, Any] | None = None) -> bytes:
        """The bytes of a file. Raises `ApiError`."""
        with _reached(self.address):
            response = await self._http.get(PREFIX + path, params=params)
        if response.status_code >= 400:
            raise error_of(response.status_code, _json(response.content))
        return response.content

    async def every(self, path: str, params: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        """All pages of a list."""
        found: dict[str, dict[str, Any]] = {}
        page = 1
        while True:
            listed = await self.envelope("GET", path, params={**(params or {}), "page": page, "page_size": 100})
            # A row that slides to the next page while we turn it is counted once.
            found.update((row["id"], row) for row in listed["data"])
            if not listed["data"] or page * 100 >= listed["total"]:
                return list(found.values())
            page += 1

    async def events(self, path: str, body: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """The frames of a streamed answer as objects."""
        with _reached(self.address):
            async with self._http.stream("POST", PREFIX + path, json=body, timeout=None) as response:
                if response.status_code >= 400:
                    raise error_of(response.status_code, _json(await response.aread()))
                async for line in _lines(response.aiter_bytes()):
                    if line.startswith(b"data:"):
                        yield json.loads(line[5:])

    def service(self) -> Service:
        """The same connection, as tools of assistants use it."""
        from opora.mcp.service import Service

        return Service(self._http)

    async def settle(self, *, seconds: float) -> None:
        """Inside this process: let the work that was begun come to its end, for so long."""
        import asyncio

        if self._idle is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._idle()


@asynccontextmanager
async def connect(settings: Settings) -> AsyncIterator[Client]:
    """Talk to the server that owns the data folder, or open the folder here, under its lock.

    Raises `Busy` when another process holds the folder without serving.
    """
    from opora.bootstrap import App, serving_at

    address = serving_at(settings)
    app: App | None = None
    if not address:
        try:
            app = await App.open(settings)
        except Busy:
            # It may have begun to serve since we looked.
            address = serving_at(settings)
            if not address:
                raise
    if app is None:
        async with open_client(address, settings) as client:
            yield client
        return
    try:
        async with open_inside(app, settings) as client:
            yield client
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


@asynccontextmanager
async def open_inside(app: Any, settings: Settings) -> AsyncIterator[Client]:
    """Talk to an open application without a network."""
    import httpx2

    from opora.api.app import create_app
    from opora.cli.transport import InProcessTransport

    async with httpx2.AsyncClient(
        transport=InProcessTransport(create_app(app)),
        base_url="http://127.0.0.1",
        headers=_headers(settings),
        timeout=TIMEOUT_SECONDS,
    ) as http:
        yield Client(http, address="", idle=app.jobs.idle)


@contextlib.contextmanager
def _reached(address: str) -> Iterator[None]:
    import httpx2

    hint = "Is it still running, and does it stop or start just now? Try again."
    try:
        yield
    except httpx2.TimeoutException as exc:
        raise ApiError(f"The server at {address} does not answer.", status=0, code="timeout", hint=hint) from exc
    except (httpx2.TransportError, OSError) as exc:
        message = f"The connection to the server at {address} failed: {exc or type(exc).__name__}."
        raise ApiError(message, status=0, code="unavailable", hint=hint) from exc


async def _lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Lines end at a line feed and nowhere else: texts may hold other separators that look like line ends."""
    left = b""
    async for piece in pieces:
        *lines, left = (left + piece).split(b"\n")
        for line in lines:
            yield line
    if left:
        yield left


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
    hint = str(error.get("hint") or "")
    if status == 401:
        hint = "Set OPORA_API_KEY to the key of the server."
    return ApiError(
        str(error.get("message") or f"The service answered {status}."),
        status=status,
        code=str(error.get("name") or ""),
        hint=hint,
        details=error.get("details"),
        data=body.get("data"),
    )
