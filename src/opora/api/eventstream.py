"""Sends an answer's events as server-sent events: what there is at once and joined, then what comes, as it comes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import cast

from starlette.responses import StreamingResponse
from starlette.types import Receive, Send
from starlette.types import Scope as AsgiScope

from opora.api.principal import App
from opora.domain.conversation import Finish
from opora.domain.errors import NotFound, OporaError, Unavailable
from opora.domain.scope import Scope
from opora.domain.stream import TERMINAL, ResponseType, StreamEvent
from opora.stream.coalesce import coalesce
from opora.stream.frames import CONTENT_TYPE, HEADERS, KEEP_ALIVE, frame, retry_frame

_log = logging.getLogger(__name__)

KEEP_ALIVE_SECONDS = 15.0
RETRY_MILLISECONDS = 1_000

Live = AsyncGenerator[tuple[int, StreamEvent], None]


async def frames_of(
    app: App, scope: Scope, *, session_id: str, message_id: str, request_id: str, from_offset: int = 0
) -> AsyncGenerator[bytes, None]:
    """The frames of one answer to its end. The caller has checked that the message is the principal's.

    A log that can't be reached, or is lost, ends the stream in words and without an id: who comes back resumes behind
    the last event that really came.
    """

    def framed(offset: int | None, event: StreamEvent) -> bytes:
        return frame(offset, event, request_id=request_id, session_id=session_id, message_id=message_id)

    try:
        async with aclosing(_events_of(app, scope, session_id, message_id, from_offset)) as events:
            async for offset, event in events:
                yield framed(offset, event)
    except OporaError as exc:
        _log.warning("The stream of an answer broke off: %s", exc.message)
        words = f"{exc.message} {exc.hint}".strip()
        yield framed(None, StreamEvent(response_type=ResponseType.ERROR, content=words, done=True))
        yield framed(None, StreamEvent(response_type=TERMINAL, done=True, data={"finish": Finish.ERROR.value}))


async def _events_of(app: App, scope: Scope, session_id: str, message_id: str, from_offset: int) -> Live:
    try:
        events, following = await app.log.read(session_id, message_id, from_offset)
    except (NotFound, Unavailable):
        stored = [item async for item in app.chat.follow(scope, session_id, message_id)]
        # Offsets of the log that is gone mean nothing here: a reader that has seen a part is told only the end.
        for item in stored[-1:] if from_offset else stored:
            yield item
        return
    for item in coalesce(enumerate(events, from_offset)):
        yield item
    if any(event.response_type is TERMINAL for event in events):
        return
    live = cast(Live, app.chat.follow(scope, session_id, message_id, max(from_offset, following)))
    async with aclosing(live):
        async for item in live:
            yield item


class EventStream(StreamingResponse):
    """Ends with its reader: when one leaves, nothing that served it stays; the answer itself goes on."""

    media_type = CONTENT_TYPE

    def __init__(
        self,
        frames: AsyncGenerator[bytes, None],
        status_code: int = 200,
        *,
        keep_alive: float = KEEP_ALIVE_SECONDS,
        retry: int | None = RETRY_MILLISECONDS,
    ) -> None:
        """``retry`` is None for a stream that can't be taken up again."""
        super().__init__(frames, status_code, headers=dict(HEADERS))
        self._frames = frames
        self._keep_alive = keep_alive
        self._retry = retry
        self._quiet = False
        """Nothing was sent since the last look."""

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        async with aclosing(self._frames):
            sending = asyncio.create_task(self._send(send))
            others = [
                asyncio.create_task(self.listen_for_disconnect(receive)),
                asyncio.create_task(self._beat(send)),
            ]
            try:
                await asyncio.wait([sending, *others], return_when=asyncio.FIRST_COMPLETED)
            finally:
                left = not sending.done()
                for task in (sending, *others):
                    task.cancel()
                await asyncio.gather(sending, *others, return_exceptions=True)
            if not left:
                with suppress(OSError):
                    # The connection broke: the reader is gone, and that is no failure of ours.
                    sending.result()

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        if self._retry is not None:
            await send({"type": "http.response.body", "body": retry_frame(self._retry), "more_body": True})
        async for data in self._frames:
            self._quiet = False
            await send({"type": "http.response.body", "body": data, "more_body": True})
        self._quiet = False
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _beat(self, send: Send) -> None:
        while True:
            self._quiet = True
            await asyncio.sleep(self._keep_alive)
            if self._quiet:
                await send({"type": "http.response.body", "body": KEEP_ALIVE, "more_body": True})
