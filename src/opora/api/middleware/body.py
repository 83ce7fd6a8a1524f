"""Refuses bodies that are too long, by their declared length and, while they are read, by their real one."""

from __future__ import annotations

from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from opora.api.errors import plain_response

Limit = Callable[[str], int]
"""Bytes that a path may be sent."""

_MIB = 1024 * 1024


class BodyLimitMiddleware:
    """A sender who is refused half-way would see a broken connection instead of the answer, so as much again as the
    limit is read and thrown away first."""

    def __init__(self, app: ASGIApp, *, limit: Limit) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._limit(scope["path"])
        message = f"The request is longer than {_shown(limit)}."
        declared = Headers(scope=scope).get("content-length", "")
        if declared.isascii() and declared.isdigit() and int(declared) > limit:
            await _discard(receive, limit)
            accept = Headers(scope=scope).get("accept", "")
            hint = "The limit for files is the setting OPORA_UPLOAD_LIMIT."
            await plain_response(accept, 413, message, hint=hint)(scope, receive, send)
            return
        read = 0

        async def counted() -> Message:
            nonlocal read
            part = await receive()
            if part["type"] == "http.request":
                read += len(part.get("body", b""))
                if read > limit:
                    if part.get("more_body", False):
                        await _discard(receive, limit)
                    raise HTTPException(413, message)
            return part

        await self._app(scope, counted, send)


async def _discard(receive: Receive, most: int) -> None:
    left = most
    while left > 0:
        part = await receive()
        if part["type"] != "http.request" or not part.get("more_body", False):
            return
        left -= len(part.get("body", b""))


def _shown(limit: int) -> str:
    return f"{limit / _MIB:.0f} MB" if limit >= _MIB else f"{limit} bytes"
