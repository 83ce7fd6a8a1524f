"""Keeps the events of answers in this process: append-only, with followers that each append wakes."""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from opora.domain.errors import Busy, NotFound
from opora.domain.stream import FIRST, TERMINAL, LogState, ResponseType, StreamEvent
from opora.ports import Clock
from opora.stream.titles import TITLE_PENDING, TITLE_WAIT_SECONDS, too_late

TTL = timedelta(hours=1)
MAX_LOGS = 2_000
MAX_BYTES = 128 * 1024 * 1024

_EVENT_BYTES = 400
_REFERENCE_BYTES = 1_000


@dataclass(slots=True, kw_only=True)
class _Log:
    events: list[StreamEvent] = field(default_factory=list)
    size: int = 0
    last_append: datetime
    finished_at: datetime | None = None
    has_late_title: bool = False
    is_gone: bool = False
    stop_written: asyncio.Event = field(default_factory=asyncio.Event)
    heard_at: float = 0.0
    """The last append by the clock of the loop."""
    watch: asyncio.TimerHandle | None = None
    """Looks whether the log fell silent: one for each log that is followed, as a timer a wait costs more than the
    rest of it."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Replaced at each append: whoever holds the old one is woken, and nobody has to sign off."""

    def wake(self) -> None:
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()


class MemoryStreamLog:
    """A `StreamLog` for one process, bounded by age, count and size.

    Only finished logs are given up for room: an answer in progress keeps its log until it is silent for ``ttl``.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        ttl: timedelta = TTL,
        title_wait: float = TITLE_WAIT_SECONDS,
        max_logs: int = MAX_LOGS,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._clock = clock
        self._ttl = ttl
        self._title_wait = title_wait
        self._max_logs = max_logs
        self._max_bytes = max_bytes
        self._logs: OrderedDict[tuple[str, str], _Log] = OrderedDict()
        """Oldest append first."""
        self._size = 0

    def __len__(self) -> int:
        return len(self._logs)

    @property
    def stored_bytes(self) -> int:
        """An estimate of what the events take."""
        return self._size

    async def append(self, session_id: str, message_id: str, event: StreamEvent) -> int:
        now = self._clock()
        self._expire(now)
        key = (session_id, message_id)
        log = self._logs.get(key)
        size = _size_of(event)
        if log is None:
            if event.response_type is not FIRST:
                raise _gone()
            self._make_room(size, key, logs=1)
            log = self._logs[key] = _Log(last_append=now)
        else:
            self._check_open(log, event, now)
            self._make_room(size, key, logs=0)
        log.events.append(event)
        log.size += size
        self._size += size
        log.last_append = now
        log.heard_at = asyncio.get_running_loop().time()
        if log.finished_at is not None:
            log.has_late_title = True
        elif event.response_type is TERMINAL:
            log.finished_at = now
            if log.watch is not None:
                log.watch.cancel()
        elif event.response_type is ResponseType.STOP:
            log.stop_written.set()
        self._logs.move_to_end(key)
        log.wake()
        return len(log.events) - 1

    async def read(self, session_id: str, message_id: str, from_offset: int = 0) -> tuple[list[StreamEvent], int]:
        log = self._log(session_id, message_id)
        return log.events[max(from_offset, 0) :], len(log.events)

    async def exists(self, session_id: str, message_id: str) -> bool:
        self._expire(self._clock())
        return (session_id, message_id) in self._logs

    async def state(self, session_id: str, message_id: str) -> LogState:
        """Never abandoned: whoever writes it lives and dies with this process."""
        self._expire(self._clock())
        log = self._logs.get((session_id, message_id))
        if log is None:
            return LogState.ABSENT
        return LogState.RUNNING if log.finished_at is None else LogState.COMPLETE

    async def take_over(self, session_id: str, message_id: str) -> bool:
        return False

    async def stop_requested(self, session_id: str, message_id: str) -> None:
        log = self._logs.get((session_id, message_id))
        await (log.stop_written if log else asyncio.Event()).wait()

    async def close(self) -> None:
        """Let every follower go."""
        while self._logs:
            self._drop(next(iter(self._logs)))

    async def follow(
        self, session_id: str, message_id: str, from_offset: int = 0
    ) -> AsyncIterator[tuple[int, StreamEvent]]:
        """Replay from an offset, then live events up to the terminal one.

        Behind it only a reader that was there before waits for a title, when `complete` said that one is coming. An
        offset that this log never reached (it was given out by another one) is taken back to the last event.
        """
        log = self._log(session_id, message_id)
        was_open = log.finished_at is None
        offset = max(from_offset, 0)
        if offset > len(log.events):
            offset = len(log.events) - (0 if was_open else 1)
        while True:
            while offset < len(log.events):
                yield offset, log.events[offset]
                offset += 1
            if log.finished_at is None:
                if log.is_gone:
                    return
                if log.watch is None:
                    self._watch(log, self._ttl.total_seconds())
                await log.changed.wait()
            elif was_open and self._awaits_title(log):
                was_open = False
                await self._wait(log, self._title_wait)
            else:
                return

    def _watch(self, log: _Log, seconds: float) -> None:
        log.watch = asyncio.get_running_loop().call_later(seconds, self._look_for_silence, log)

    def _look_for_silence(self, log: _Log) -> None:
        """Let the followers go when nothing came in all that time: the run behind the log is dead."""
        left = log.heard_at + self._ttl.total_seconds() - asyncio.get_running_loop().time()
        if left > 0:
            self._watch(log, left)
        else:
            log.is_gone = True
            log.wake()

    async def _wait(self, log: _Log, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await log.changed.wait()

    def _awaits_title(self, log: _Log) -> bool:
        return not log.has_late_title and bool(log.events[-1].data.get(TITLE_PENDING))

    def _check_open(self, log: _Log, event: StreamEvent, now: datetime) -> None:
        if log.finished_at is None:
            return
        in_time = now - log.finished_at <= timedelta(seconds=self._title_wait)
        if event.response_type is ResponseType.SESSION_TITLE and in_time and not log.has_late_title:
            return
        raise too_late(event)

    def _log(self, session_id: str, message_id: str) -> _Log:
        self._expire(self._clock())
        try:
            return self._logs[session_id, message_id]
        except KeyError:
            raise _gone() from None

    def _expire(self, now: datetime) -> None:
        while self._logs:
            key, log = next(iter(self._logs.items()))
            if now - log.last_append < self._ttl:
                return
            self._drop(key)

    def _make_room(self, size: int, key: tuple[str, str], *, logs: int) -> None:
        if not self._is_full(size, logs):
            return
        for old in [old for old, log in self._logs.items() if log.finished_at is not None and old != key]:
            self._drop(old)
            if not self._is_full(size, logs):
                return
        if logs:
            raise Busy("Too many answers are being written at the moment.", hint="Try again in a minute.")

    def _is_full(self, size: int, logs: int) -> bool:
        return len(self._logs) + logs > self._max_logs or self._size + size > self._max_bytes

    def _drop(self, key: tuple[str, str]) -> None:
        log = self._logs.pop(key)
        if log.watch is not None:
            log.watch.cancel()
        self._size -= log.size
        log.is_gone = True
        log.wake()


def _gone() -> NotFound:
    return NotFound("The events of this answer are not kept any more.")


def _size_of(event: StreamEvent) -> int:
    text = len(event.content) + sum(len(str(value)) for value in event.data.values())
    references = sum(len(result.content) + _REFERENCE_BYTES for result in event.references)
    return _EVENT_BYTES + 2 * (text + references)
