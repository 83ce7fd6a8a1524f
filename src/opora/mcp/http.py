"""The same server at ``/mcp`` of the service: each call with the key of its request, behind the service's walls."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse

from opora.domain.errors import OporaError
from opora.mcp.server import make_server
from opora.mcp.service import Service

PATH = "/mcp"
_KEYS = ("authorization", "x-api-key")


class McpDoor:
    """An ASGI application. ``inside`` reaches the service without a network, ``authenticate`` raises an `OporaError`
    for a key that opens nothing.

    Host and origin were looked at before. What a tool may do is decided by the routes that it uses."""

    def __init__(self, inside: httpx2.AsyncClient, authenticate: Callable[[str | None], object]) -> None:
        self._inside = inside
        self._authenticate = authenticate
        self._manager = StreamableHTTPSessionManager(
            app=make_server(self._service),
            json_response=True,
            stateless=True,
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self._manager.run():
            yield

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            self._authenticate(_key(Headers(scope=scope)))
        except OporaError as error:
            refused = JSONResponse({"error": error.message, "hint": error.hint}, status_code=401)
            await refused(scope, receive, send)
            return
        await self._manager.handle_request(scope, receive, send)

    def _service(self, context: ServerRequestContext[Any]) -> Service:
        given = context.request.headers if context.request is not None else {}
        return Service(self._inside, {name: given[name] for name in _KEYS if name in given})


def _key(headers: Headers) -> str | None:
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" and token.strip() else headers.get("x-api-key")
