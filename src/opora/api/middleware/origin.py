"""Keeps foreign web pages out: the name in Host must be ours (DNS rebinding), and so must the page that sends."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from opora.api.errors import plain_response

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_WILDCARD_ADDRESSES = frozenset({"0.0.0.0", "::", ""})


class OriginMiddleware:
    """Requests of programs carry no Origin and pass; requests of a page must come from the address they go to."""

    def __init__(self, app: ASGIApp, *, names: Iterable[str] = ()) -> None:
        self._app = app
        self._names = LOOPBACK_NAMES | {name.lower().strip("[]") for name in names} - _WILDCARD_ADDRESSES

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            accept = headers.get("accept", "")
            host = _host_and_port(headers.get("host", ""))
            if host is None or host[0] not in self._names:
                hint = "Use localhost, or name the host in OPORA_ALLOWED_HOSTS."
                response = plain_response(accept, 421, "This server is not reached under that name.", hint=hint)
                await response(scope, receive, send)
                return
            if scope["method"] not in SAFE_METHODS and not self._is_own_page(headers, host):
                message = "Pages of another site may not send anything to this server."
                await plain_response(accept, 403, message)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _is_own_page(self, headers: Headers, host: tuple[str, int | None]) -> bool:
        origin = headers.get("origin")
        if origin is None:
            return headers.get("sec-fetch-site", "none") in ("none", "same-origin")
        try:
            parts = urlsplit(origin)
            default = {"http": 80, "https": 443}[parts.scheme]
            name, port = parts.hostname or "", parts.port or default
        except (ValueError, KeyError):
            return False
        return name.lower() == host[0] and port == (host[1] or default)


def _host_and_port(value: str) -> tuple[str, int | None] | None:
    """The name in lower case and the port of a Host header; None when it is not one."""
    if not value or any(char in value for char in "/@?#\\ "):
        return None
    try:
        parts = urlsplit(f"//{value}")
        return ((parts.hostname or "").lower(), parts.port) if parts.hostname else None
    except ValueError:
        return None
