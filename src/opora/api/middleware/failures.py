"""Answers what nobody expected in the envelope, and writes it to the log with its traceback."""

from __future__ import annotations

import logging

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from opora.api.errors import INTERNAL_MESSAGE, plain_response

_log = logging.getLogger(__name__)


class FailureMiddleware:
    """Once an answer has begun, nothing can be said any more: the error goes up and the connection breaks."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def send_noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, send_noted)
        except Exception:
            if begun:
                raise
            _log.exception("%s %s failed", scope["method"], scope["path"])
            accept = Headers(scope=scope).get("accept", "")
            await plain_response(accept, 500, INTERNAL_MESSAGE)(scope, receive, send)
