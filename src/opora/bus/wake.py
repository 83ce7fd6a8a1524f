"""Wakes workers of other processes through JetStream. A message says only 'look': what is to be done stands in the
database, so a message that is lost, late or delivered thrice changes nothing but the moment."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from nats.errors import Error
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, RetentionPolicy, StreamConfig

from opora.bus.connection import Bus

log = logging.getLogger(__name__)

ACK_SECONDS = 30.0
"""A message that nobody has acknowledged by then goes to another worker."""
MAX_DELIVER = 5
FETCH_SECONDS = 5.0
RETRY_SECONDS = 1.0
CANCEL_SECONDS = 0.2
DEAD_DAYS = 30


class WorkStream:
    """``prefix`` keeps installations of one broker apart. ``look`` is called for each message, and returns when the
    workers of this process have looked; None where there are none."""

    def __init__(self, bus: Bus, *, prefix: str, look: Callable[[], Awaitable[None]] | None) -> None:
        self._bus = bus
        self._look = look
        self._new = f"{prefix}.work.new"
        self._dead = f"{prefix}.work.dead"
        self._streams = (f"{prefix}_work", f"{prefix}_dead")
        self._stream: JetStreamContext | None = None
        self._told = asyncio.Event()
        self._letters: asyncio.Queue[bytes] = asyncio.Queue()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._tasks = [asyncio.create_task(self._always(step)) for step in (self._publish, self._bury)]
        if self._look is not None:
            self._tasks.append(asyncio.create_task(self._always(self._take)))

    async def close(self) -> None:
        left = set(self._tasks)
        while left:
            # More than once: the client's waiting may lose a cancellation that comes as it ends.
            for task in left:
                task.cancel()
            _, left = await asyncio.wait(left, timeout=CANCEL_SECONDS)

    def announce(self) -> None:
        """Work was committed. Several calls before the next message make one."""
        self._told.set()

    def give_up(self, letter: dict[str, Any]) -> None:
        """Tell operators of work that is not tried again."""
        self._letters.put_nowait(json.dumps(letter, ensure_ascii=False).encode("utf-8", "replace"))

    async def _always(self, step: Callable[[JetStreamContext], Awaitable[None]]) -> None:
        while True:
            try:
                stream = await self._ready()
                while True:
                    await step(stream)
            except (Error, TimeoutError) as error:
                log.warning("The stream of work can't be used, trying again: %s", error or type(error).__name__)
                self._stream = None
                await asyncio.sleep(RETRY_SECONDS)

    async def _ready(self) -> JetStreamContext:
        if self._stream is None:
            stream = (await self._bus.connected()).jetstream()
            work, dead = self._streams
            await stream.add_stream(
                StreamConfig(name=work, subjects=[self._new], retention=RetentionPolicy.WORK_QUEUE, max_msgs=10_000)
            )
            await stream.add_stream(StreamConfig(name=dead, subjects=[self._dead], max_age=DEAD_DAYS * 86_400))
            self._stream = stream
        return self._stream

    async def _publish(self, stream: JetStreamContext) -> None:
        await self._told.wait()
        await stream.publish(self._new, b"{}")
        self._told.clear()

    async def _bury(self, stream: JetStreamContext) -> None:
        letter = await self._letters.get()
        try:
            await stream.publish(self._dead, letter)
        except BaseException:
            self._letters.put_nowait(letter)
            raise

    async def _take(self, stream: JetStreamContext) -> None:
        """Acknowledged when this process has looked: one that dies before leaves the message to another."""
        assert self._look is not None
        config = ConsumerConfig(ack_policy=AckPolicy.EXPLICIT, ack_wait=ACK_SECONDS, max_deliver=MAX_DELIVER)
        waiting = await stream.pull_subscribe(self._new, durable="workers", config=config)
        try:
            while True:
                try:
                    messages = await waiting.fetch(1, timeout=FETCH_SECONDS)
                except TimeoutError:
                    continue
                for message in messages:
                    await self._look()
                    await message.ack()
        finally:
            await waiting.unsubscribe()
