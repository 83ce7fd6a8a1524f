"""One subscription connection to Redis for everybody in this process who waits for a change."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

QUIET_SECONDS = 15.0
"""After so long a silence the server is asked whether it is still there."""
READY_SECONDS = 5.0


class Lost(Exception):
    """The subscription is gone: something may have been missed."""


class Ear:
    """Hears that something was published on one channel; how often does not matter."""

    def __init__(self) -> None:
        self._heard = asyncio.Event()
        self._lost: Exception | None = None

    def wake(self) -> None:
        self._heard.set()

    def lose(self, error: Exception) -> None:
        self._lost = error
        self._heard.set()

    async def wait(self, seconds: float | None = None) -> bool:
        """False when nothing came in that time. Raises `Lost`."""
        try:
            async with asyncio.timeout(seconds):
                await self._heard.wait()
        except TimeoutError:
            return False
        if self._lost is not None:
            raise Lost from self._lost
        self._heard.clear()
        return True


@dataclass(slots=True)
class _Channel:
    ears: set[Ear] = field(default_factory=set)

    def wake(self) -> None:
        for ear in self.ears:
            ear.wake()


class Wakes:
    """Subscribes to a channel while somebody listens to it.

    A lost connection is told to every listener; whoever listens again brings a new one up.
    """

    def __init__(self, client: Redis, *, quiet: float = QUIET_SECONDS) -> None:
        self._client = client
        self._quiet = quiet
        self._pubsub: PubSub | None = None
        self._reader: asyncio.Task[None] | None = None
        self._channels: dict[bytes, _Channel] = {}
        self._asked: set[bytes] = set()
        """Channels for which SUBSCRIBE was sent."""
        self._confirmed: set[bytes] = set()
        self._underway: Counter[bytes] = Counter()
        """SUBSCRIBEs without an answer yet: an answer counts when it is that of the last one."""
        self._commands = asyncio.Lock()
        self.is_closed = False

    @asynccontextmanager
    async def listening(self, name: bytes) -> AsyncIterator[Ear]:
        """An ear that hears everything published from now on. Raises `Lost`."""
        if self.is_closed:
            raise Lost("closed")
        ear = Ear()
        channel = self._channels.setdefault(name, _Channel())
        channel.ears.add(ear)
        try:
            if name not in self._confirmed:
                await self._settle(name)
                if not await ear.wait(READY_SECONDS):
                    raise Lost("no subscription in time")
            yield ear
        finally:
            channel.ears.discard(ear)
            if not channel.ears and self._channels.get(name) is channel:
                del self._channels[name]
                with contextlib.suppress(Lost):
                    await self._settle(name)

    async def close(self) -> None:
        self.is_closed = True
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
        await self._lose(RedisConnectionError("closed"))

    async def _settle(self, name: bytes) -> None:
        """Send what makes the subscription as it is wanted, one command at a time so that none overtakes another."""
        try:
            async with self._commands:
                wanted = name in self._channels
                if wanted == (name in self._asked):
                    if wanted and name in self._confirmed:
                        self._channels[name].wake()
                elif wanted:
                    if self._pubsub is None:
                        self._pubsub = self._client.pubsub()
                    self._asked.add(name)
                    self._underway[name] += 1
                    try:
                        await self._pubsub.subscribe(name)
                    except BaseException:
                        self._asked.discard(name)
                        raise
                    if self._reader is None:
                        self._reader = asyncio.create_task(self._read(self._pubsub), name="redis wakes")
                elif self._pubsub is not None:
                    self._asked.discard(name)
                    self._confirmed.discard(name)
                    await self._pubsub.unsubscribe(name)
        except (RedisError, OSError) as exc:
            await self._lose(exc)
            raise Lost from exc

    async def _read(self, pubsub: PubSub) -> None:
        is_asked = False
        try:
            while True:
                message = await pubsub.get_message(timeout=self._quiet)
                if message is None:
                    if is_asked:
                        raise RedisConnectionError("the server is silent")
                    is_asked = True
                    await pubsub.ping()
                    continue
                is_asked = False
                name = message["channel"]
                if message["type"] == "subscribe" and not self._confirm(name):
                    continue
                if message["type"] in ("subscribe", "message") and name in self._channels:
                    self._channels[name].wake()
        except asyncio.CancelledError:
            raise
        except Exception as exc:
            # Whatever it is that ended the reading: those who wait must learn of it.
            await self._lose(exc)

    def _confirm(self, name: bytes) -> bool:
        self._underway[name] -= 1
        if self._underway[name] > 0:
            return False
        del self._underway[name]
        if name in self._asked:
            self._confirmed.add(name)
        return True

    async def _lose(self, error: Exception) -> None:
        channels, self._channels = self._channels, {}
        pubsub, self._pubsub = self._pubsub, None
        reader, self._reader = self._reader, None
        self._asked.clear()
        self._confirmed.clear()
        self._underway.clear()
        for channel in channels.values():
            for ear in channel.ears:
                ear.lose(error)
        if reader is not None and reader is not asyncio.current_task():
            reader.cancel()
        if pubsub is not None:
            with contextlib.suppress(RedisError, OSError):
                await pubsub.aclose()  # type: ignore[no-untyped-call]
