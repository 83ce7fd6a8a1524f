"""One look at the list of a log, and what is said when Redis can't be asked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from redis.asyncio import Redis
from redis.exceptions import AuthenticationError, RedisError
from redis.exceptions import ConnectionError as RedisConnectionError

from opora.domain.errors import Unavailable
from opora.domain.stream import LogState, ResponseType
from opora.stream.redis_wakes import Lost
from opora.stream.wire import TERMINAL_PREFIX, kind_prefix

T = TypeVar("T")

COMMAND_SECONDS = 5.0
_TITLE_PREFIX = kind_prefix(ResponseType.SESSION_TITLE)


@dataclass(frozen=True, slots=True)
class Keys:
    """The list of events, the lease of its writer, and the channel of stops; the list's name is a channel too."""

    events: str
    lease: str
    stop: str

    @classmethod
    def of(cls, prefix: str, session_id: str, message_id: str) -> Keys:
        events = f"{prefix}:{session_id}:{message_id}"
        return cls(events, f"{events}:writer", f"{events}:stop")


@dataclass(frozen=True, slots=True)
class View:
    """What a look gave: the lines from an offset on, and how long the log is altogether."""

    lines: list[bytes]
    length: int
    is_ended: bool
    is_titled: bool


async def look(client: Redis, keys: Keys, offset: int) -> View:
    async def ask() -> View:
        async with client.pipeline(transaction=True) as pipeline:
            pipeline.lrange(keys.events, offset, -1)
            pipeline.lrange(keys.events, -2, -1)
            pipeline.llen(keys.events)
            lines, last, length = await pipeline.execute()
        is_ended, is_titled = _ending(last)
        return View(lines, length, is_ended or is_titled, is_titled)

    return await reach(ask)


async def state_of(client: Redis, keys: Keys) -> LogState:
    async def ask() -> LogState:
        async with client.pipeline(transaction=True) as pipeline:
            pipeline.lrange(keys.events, -2, -1)
            pipeline.exists(keys.lease)
            last, is_held = await pipeline.execute()
        if not last:
            return LogState.ABSENT
        if any(_ending(last)):
            return LogState.COMPLETE
        return LogState.RUNNING if is_held else LogState.ABANDONED

    return await reach(ask)


async def reach(ask: Callable[[], Awaitable[T]], *, tries: int = 2) -> T:
    """What was asked for; raises `Unavailable` when the server can't be reached, refuses, or takes too long.

    A second try finds out whether only the connection was old. The time is kept here: the client's own way of
    keeping it loses a cancellation now and then on Python 3.11.
    """
    while True:
        tries -= 1
        try:
            async with asyncio.timeout(COMMAND_SECONDS):
                return await ask()
        except TimeoutError as exc:
            raise unreachable(TimeoutError(f"no answer in {COMMAND_SECONDS:g} s")) from exc
        except (RedisError, OSError) as exc:
            if tries <= 0 or not isinstance(exc, RedisConnectionError):
                raise unreachable(exc) from exc


def unreachable(error: BaseException) -> Unavailable:
    cause = error.__cause__ if isinstance(error, Lost) and error.__cause__ else error
    hint = "Check REDIS_PASSWORD." if isinstance(cause, AuthenticationError) else "Check that Redis runs at REDIS_ADDR."
    return Unavailable(f"The log of answers in Redis can't be used: {cause}", hint=hint)


def _ending(last: Sequence[bytes]) -> tuple[bool, bool]:
    """Whether the end is the last line, and whether a title stands behind it."""
    is_ended = bool(last) and last[-1].startswith(TERMINAL_PREFIX)
    is_titled = len(last) == 2 and last[1].startswith(_TITLE_PREFIX) and last[0].startswith(TERMINAL_PREFIX)
    return is_ended, is_titled
