"""Keeps the events of answers in Redis, where every replica can append to them and follow them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import timedelta
from typing import Self

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from opora.domain.errors import NotFound, Unavailable
from opora.domain.stream import TERMINAL, LogState, ResponseType, StreamEvent
from opora.stream.redis_lease import LEASE_SECONDS, Leases
from opora.stream.redis_scripts import APPEND, CLOSED, GONE, TAKE_OVER
from opora.stream.redis_view import Keys, look, reach, state_of, unreachable
from opora.stream.redis_wakes import Lost, Wakes
from opora.stream.titles import TITLE_PENDING, TITLE_WAIT_SECONDS, too_late
from opora.stream.wire import from_line, kind_prefix, to_line

PREFIX = "stream:events"
TTL = timedelta(hours=1)
PATIENCE_SECONDS = 3.0
"""How long a follower tries to reach a server that went away before it gives up."""
RETRY_SECONDS = 0.1
CONNECTIONS = 32
_STOP_PREFIX = kind_prefix(ResponseType.STOP)


class RedisStreamLog:
    """A `StreamLog` in a list of Redis for each answer, kept for ``ttl`` from its last event.

    Followers subscribe before they read and read again when woken, so that nothing between is missed. A lease beside
    the list says that whoever writes it is alive.
    """

    def __init__(
        self,
        client: Redis,
        *,
        owner: str,
        prefix: str = "",
        ttl: timedelta = TTL,
        title_wait: float = TITLE_WAIT_SECONDS,
        lease: float = LEASE_SECONDS,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self._client = client
        self._append_script = client.register_script(APPEND)
        self._take_over_script = client.register_script(TAKE_OVER)
        self._owner = owner
        self._prefix = prefix or PREFIX
        self._ttl = int(ttl.total_seconds() * 1000)
        self._title_wait = title_wait
        self._lease = lease
        self._patience = patience
        self._leases = Leases(client, owner=owner, seconds=lease)
        self._wakes = Wakes(client)
        self._writing: dict[str, asyncio.Task[int]] = {}
        self._reached: dict[str, int] = {}
        """The last offset that this process surely wrote, of each log that it writes."""

    @classmethod
    def at(cls, url: str, *, owner: str, password: str | None = None, **options: object) -> Self:
        """A log at ``redis://host:port/db`` (``rediss`` for TLS, ``unix`` for a socket). Nothing is sent yet."""
        secret = {"password": password} if password else {}
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=CONNECTIONS,
            timeout=5,
            socket_timeout=None,
            socket_connect_timeout=2,
            socket_keepalive=True,
            retry=Retry(NoBackoff(), 0),  # what it sends twice would stand there twice
            **secret,
        )
        return cls(Redis.from_pool(pool), owner=owner, **options)  # type: ignore[arg-type]

    async def ping(self) -> None:
        await reach(lambda: self._client.ping())

    async def append(self, session_id: str, message_id: str, event: StreamEvent) -> int:
        """As the port says. Whoever is cancelled while waiting has appended all the same, and before what follows."""
        keys = self._keys(session_id, message_id)
        writing = asyncio.create_task(self._write(keys, event, self._writing.get(keys.events)))
        self._writing[keys.events] = writing
        writing.add_done_callback(lambda task: self._written(keys.events, task))
        return await asyncio.shield(writing)

    async def read(self, session_id: str, message_id: str, from_offset: int = 0) -> tuple[list[StreamEvent], int]:
        view = await look(self._client, self._keys(session_id, message_id), max(from_offset, 0))
        if view.length == 0:
            raise _gone()
        return [from_line(line) for line in view.lines], view.length

    async def exists(self, session_id: str, message_id: str) -> bool:
        key = self._keys(session_id, message_id).events
        return bool(await reach(lambda: self._client.exists(key)))

    async def state(self, session_id: str, message_id: str) -> LogState:
        return await state_of(self._client, self._keys(session_id, message_id))

    async def take_over(self, session_id: str, message_id: str) -> bool:
        keys = self._keys(session_id, message_id)
        args: list[str | int] = [self._owner, self._leases.milliseconds]
        taken = await reach(lambda: self._take_over_script(keys=[keys.events, keys.lease], args=args))
        if taken:
            self._leases.hold(keys.lease)
            self._reached[keys.events] = (await look(self._client, keys, -1)).length - 1
        return bool(taken)

    async def stop_requested(self, session_id: str, message_id: str) -> None:
        keys = self._keys(session_id, message_id)
        while True:
            with contextlib.suppress(Unavailable):
                async with aclosing(self._changes(keys.stop, None)) as changes:
                    async for _ in changes:
                        view = await look(self._client, keys, 0)
                        if any(line.startswith(_STOP_PREFIX) for line in view.lines):
                            return
            await asyncio.sleep(self._patience)

    async def follow(
        self, session_id: str, message_id: str, from_offset: int = 0
    ) -> AsyncGenerator[tuple[int, StreamEvent], None]:
        """As the port says; ends too when the writer's lease has lapsed. Raises `Unavailable` when the server stays
        away, or came back without the log."""
        keys = self._keys(session_id, message_id)
        offset = max(from_offset, 0)
        was_open: bool | None = None
        async with aclosing(self._changes(keys.events, self._lease)) as changes:
            async for has_changed in changes:
                if not has_changed and await self.state(session_id, message_id) is LogState.ABANDONED:
                    return
                view = await look(self._client, keys, offset)
                if was_open is None:
                    if view.length == 0:
                        raise _gone()
                    was_open = not view.is_ended
                    if offset > view.length:
                        offset = view.length - (0 if was_open else 1)
                        view = await look(self._client, keys, offset)
                if view.length < offset:
                    raise _lost()
                event = None
                for line in view.lines:
                    event = from_line(line)
                    yield offset, event
                    offset += 1
                if view.is_ended:
                    if was_open and not view.is_titled and event and event.data.get(TITLE_PENDING):
                        for late in await self._title(keys, changes, offset):
                            yield offset, late
                            offset += 1
                    return

    async def close(self) -> None:
        if self._writing:
            await asyncio.wait(self._writing.values())
        await self._leases.close()
        await self._wakes.close()
        await self._client.aclose()

    async def _title(self, keys: Keys, changes: AsyncGenerator[bool, None], offset: int) -> list[StreamEvent]:
        """The title that `complete` promised, if it comes in time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._title_wait):
                async for _ in changes:
                    if lines := (await look(self._client, keys, offset)).lines:
                        return [from_line(line) for line in lines]
        return []

    async def _changes(self, channel: str, silence: float | None) -> AsyncGenerator[bool, None]:
        """True at once and whenever the channel was heard, False after a silence; reading then misses nothing."""
        clock = asyncio.get_running_loop().time
        given_up: float | None = None
        while True:
            try:
                async with self._wakes.listening(channel.encode()) as ear:
                    given_up = None
                    yield True
                    while True:
                        yield await ear.wait(silence)
            except Lost as exc:
                if self._wakes.is_closed:
                    return
                if given_up is None:
                    given_up = clock() + self._patience
                elif clock() > given_up:
                    raise unreachable(exc) from exc
            await asyncio.sleep(RETRY_SECONDS)

    async def _write(self, keys: Keys, event: StreamEvent, before: asyncio.Task[int] | None) -> int:
        if before is not None:
            await asyncio.wait([before])
        kind, line = event.response_type, to_line(event)
        offset: int = GONE
        try:
            offset = await self._send(keys, kind.value, line)
            self._reached[keys.events] = offset
        finally:
            # A log that can't be written any more must not look as if somebody were writing it.
            if offset < 0 or kind is TERMINAL:
                self._leases.drop(keys.lease)
                self._reached.pop(keys.events, None)
        if offset == GONE:
            raise _gone()
        if offset == CLOSED:
            raise too_late(event)
        if offset == 0:
            self._leases.hold(keys.lease)
        return offset

    async def _send(self, keys: Keys, kind: str, line: bytes) -> int:
        """Append, again when the connection broke and the line is not there.

        This process writes one line of a log at a time and others write nothing but stops: whether the line arrived
        can be seen behind the last one that surely did.
        """
        names = [keys.events, keys.lease, keys.stop]
        title_wait = int(self._title_wait * 1000)
        args: list[bytes | str | int] = [line, kind, self._owner, self._ttl, title_wait, self._leases.milliseconds]
        clock = asyncio.get_running_loop().time
        behind = self._reached.get(keys.events, -1) + 1
        # Whoever asks should learn at once that there is no server; an answer under way is worth a moment.
        given_up = clock() + (self._patience if behind else RETRY_SECONDS)
        while True:
            try:
                return int(await reach(lambda: self._append_script(keys=names, args=args), tries=1))
            except Unavailable:
                if clock() > given_up:
                    raise
            await asyncio.sleep(RETRY_SECONDS)
            with contextlib.suppress(Unavailable):
                lines = (await look(self._client, keys, behind)).lines
                if line in lines:
                    return behind + lines.index(line)

    def _written(self, key: str, task: asyncio.Task[int]) -> None:
        if self._writing.get(key) is task:
            del self._writing[key]
        if not task.cancelled():
            task.exception()  # whoever waited may have been cancelled, and nobody else looks

    def _keys(self, session_id: str, message_id: str) -> Keys:
        return Keys.of(self._prefix, session_id, message_id)


def _gone() -> NotFound:
    return NotFound("The events of this answer are not kept any more.")


def _lost() -> Unavailable:
    return Unavailable("The events of this answer were lost: Redis came back without them.", hint="Ask again.")
