"""Serves HTTP requests from an ASGI application inside this process, streaming its answers as they are made."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, MutableMapping
from typing import Any

import httpx2

_HOST = "127.0.0.1"


class InProcessTransport(httpx2.AsyncBaseTransport):
    """Unlike the transport that comes with the client, this one hands on each piece of a body at once."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = await request.aread()
        messages: asyncio.Queue[MutableMapping[str, Any] | None] = asyncio.Queue()
        left = asyncio.Event()
        sent = False

        async def receive() -> MutableMapping[str, Any]:
            nonlocal sent
            if not sent:
                sent = True
                return {"type": "http.request", "body": body, "more_body": False}
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message: MutableMapping[str, Any]) -> None:
            await messages.put(message)

        async def serve() -> None:
            try:
                await self._app(_scope(request), receive, send)
            finally:
                await messages.put(None)

        task = asyncio.create_task(serve())
        start = await messages.get()
        if start is None:
            await task
            raise httpx2.RemoteProtocolError("The application sent no answer.")
        return httpx2.Response(
            status_code=start["status"], headers=start.get("headers", []), stream=_Body(messages, task, left)
        )


class _Body(httpx2.AsyncByteStream):
    def __init__(
        self,
        messages: asyncio.Queue[MutableMapping[str, Any] | None],
        task: asyncio.Task[None],
        left: asyncio.Event,
    ) -> None:
        self._messages = messages
        self._task = task
        self._left = left

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (message := await self._messages.get()) is not None:
            if message.get("body"):
                yield message["body"]
            if not message.get("more_body", False):
                break

    async def aclose(self) -> None:
        self._left.set()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task


def _scope(request: httpx2.Request) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.url.scheme,
        "path": request.url.path,
        "raw_path": request.url.raw_path.split(b"?")[0],
        "query_string": request.url.query,
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "client": (_HOST, 0),
        "server": (_HOST, request.url.port or 80),
        "state": {},
    }
