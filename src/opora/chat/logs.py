"""Keeps the logs of answers and the stored messages in step: who comes late, or after a death, reads a whole answer."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import cast

from opora.chat.replay import missing_events, stored_events
from opora.domain.conversation import Finish, Message
from opora.domain.errors import Conflict, NotFound, OporaError, Timeout, Unavailable
from opora.domain.stream import TERMINAL, LogState, ResponseType, StreamEvent
from opora.ports import Clock, Database, StreamLog

_log = logging.getLogger(__name__)

Followed = AsyncGenerator[tuple[int, StreamEvent], None]

STOP_SECONDS = 10.0
RECHECK_SECONDS = 20.0
"""Longer than the lease of a log: an answer that looked alive after a restart is looked at again."""


class Logs:
    """What is between one `StreamLog` and the messages of one database."""

    def __init__(self, database: Database, log: StreamLog, clock: Clock, *, recheck: float = RECHECK_SECONDS) -> None:
        self._database = database
        self._log = log
        self._clock = clock
        self._recheck = recheck
        self._checking: asyncio.Task[None] | None = None

    async def events(
        self, session_id: str, message_id: str, from_offset: int, stored: Callable[[], Awaitable[Message]]
    ) -> Followed:
        """Events from an offset to the end. ``stored`` reads the message, for when its log is gone or was abandoned."""
        while True:
            try:
                state = await self._log.state(session_id, message_id)
            except Unavailable:
                if not (await stored()).is_completed:
                    raise
                state = LogState.ABSENT
            if state is LogState.ABSENT:
                for offset, event in enumerate(stored_events(await stored())):
                    if offset >= from_offset:
                        yield offset, event
                return
            if state is LogState.ABANDONED:
                await self.end(await stored())
            live = cast(Followed, self._log.follow(session_id, message_id, from_offset))
            async with aclosing(live):
                async for offset, event in live:
                    yield offset, event
                    from_offset = offset + 1
                    if event.response_type is TERMINAL:
                        state = LogState.COMPLETE
            if state is LogState.COMPLETE or await self._log.state(session_id, message_id) is LogState.ABSENT:
                return

    async def stop(self, message: Message, stored: Callable[[], Awaitable[Message]]) -> bool:
        """Write a stop into the log of an answer that another process writes, and wait until that has heeded it."""
        session_id, message_id = message.session_id, message.message_id
        try:
            state = await self._log.state(session_id, message_id)
            if state is not LogState.RUNNING:
                if state is LogState.ABANDONED:
                    await self.end(message)
                return False
            stop = StreamEvent(response_type=ResponseType.STOP)
            offset = await self._log.append(session_id, message_id, stop)
        except (NotFound, Conflict):
            return False
        try:
            async with asyncio.timeout(STOP_SECONDS):
                async with aclosing(self.events(session_id, message_id, offset, stored)) as events:
                    async for _, event in events:
                        if event.response_type is TERMINAL:
                            return bool(event.data.get("finish") == Finish.STOPPED.value)
        except TimeoutError as exc:
            raise Timeout("The answer was told to stop and has not ended yet.", hint="Look again in a moment.") from exc
        return False

    async def end(self, message: Message) -> None:
        """Bring an abandoned log to the end that the stored message has; nothing happens when another does it.

        An unfinished message is flagged as interrupted.
        """
        session_id, message_id = message.session_id, message.message_id
        if not await self._log.take_over(session_id, message_id):
            return
        if not message.is_completed:
            await self._flag(message_id)
            message = replace(message, is_completed=True, finish=Finish.INTERRUPTED)
        logged, _ = await self._log.read(session_id, message_id)
        with contextlib.suppress(Conflict):
            for event in missing_events(message, logged):
                await self._log.append(session_id, message_id, event)

    async def start(self) -> None:
        """Flag the answers of processes that died; those that may be alive elsewhere are looked at again later."""
        if await self._flag_dead():
            self._checking = asyncio.create_task(self._check_again(), name="answers of other processes")

    async def close(self) -> None:
        if self._checking is not None:
            self._checking.cancel()
            await asyncio.gather(self._checking, return_exceptions=True)

    async def _check_again(self) -> None:
        left = True
        while left:
            await asyncio.sleep(self._recheck)
            try:
                left = await self._flag_dead()
            except OporaError as exc:
                _log.warning("Unfinished answers could not be looked at: %s", exc.message)

    async def _flag_dead(self) -> bool:
        """True when there are unfinished answers that somebody may still be writing."""
        async with self._database.read() as repositories:
            unfinished = await repositories.messages.unfinished()
        left = False
        for message in unfinished:
            try:
                state = await self._log.state(message.session_id, message.message_id)
                if state is LogState.ABANDONED:
                    await self.end(message)
                elif state is not LogState.RUNNING:
                    await self._flag(message.message_id)
            except Unavailable as exc:
                _log.warning("Whether an answer is still being written could not be told: %s", exc.message)
                state = LogState.RUNNING
            left = left or state is LogState.RUNNING
        return left

    async def _flag(self, message_id: str) -> None:
        async with self._database.begin() as repositories:
            await repositories.messages.interrupt(message_id, self._clock())
