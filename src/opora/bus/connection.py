"""One connection to NATS: made in the background, again and again, so that a broker that is away holds nobody up."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import nats
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error, NoRespondersError

from opora.bus.messages import write_error, write_reply
from opora.domain.errors import OporaError, Unavailable

log = logging.getLogger(__name__)

RETRY_SECONDS = 1.0
CONNECT_SECONDS = 5.0
DRAIN_SECONDS = 5.0
AT_ONCE = 64
"""Requests that one subject is answered at the same time; others wait their turn."""

Handler = Callable[[bytes, Mapping[str, str]], Awaitable[dict[str, Any]]]
"""From a request and its headers to the body of the reply; an exception becomes an error reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """A subject that many processes of one queue group answer, each request by one of them."""

    subject: str
    group: str
    handler: Handler


class Bus:
    """``doors`` are open whenever the broker is there."""

    def __init__(self, url: str, *, doors: tuple[Door, ...] = ()) -> None:
        self._url = url
        self._doors = doors
        self._client: Client | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._answering: set[asyncio.Task[None]] = set()
        self._connected = asyncio.Event()

    @property
    def place(self) -> str:
        """The address without its password."""
        scheme, _, rest = self._url.rpartition("://")
        return f"{scheme or 'nats'}://{rest.rpartition('@')[2]}"

    @property
    def is_connected(self) -> bool:
        return self._client is not None and self._client.is_connected

    def start(self) -> None:
        self._connecting = asyncio.create_task(self._connect())

    async def connected(self) -> Client:
        """Waits until the broker was reached for the first time."""
        await self._connected.wait()
        assert self._client is not None
        return self._client

    async def request(self, subject: str, payload: bytes, *, seconds: float) -> bytes:
        """The reply. Raises `Unavailable`: at once where the broker is away or nobody answers this subject."""
        if self._client is None or not self._client.is_connected:
            raise Unavailable(f"The broker at {self.place} can't be reached.", hint="Look whether NATS runs there.")
        try:
            message: Msg = await self._client.request(subject, payload, timeout=seconds)
        except NoRespondersError as error:
            raise Unavailable(
                f"Nobody answers {subject}.", hint="Start a process of that role: opora serve --role ingestor."
            ) from error
        except TimeoutError as error:
            raise Unavailable(f"{subject} was not answered within {seconds:g} seconds.") from error
        except Error as error:
            raise Unavailable(f"The broker failed on {subject}: {error or type(error).__name__}.") from error
        return message.data

    async def check(self) -> str:
        """A sentence on the connection; raises `Unavailable`."""
        if not (self.is_connected and self._connected.is_set()):
            raise Unavailable(
                f"The broker at {self.place} can't be reached.", hint="Look whether NATS runs there, and at NATS_URL."
            )
        return f"NATS at {self.place}"

    async def close(self) -> None:
        """Requests that are being answered are answered first."""
        if self._connecting is not None:
            self._connecting.cancel()
            await asyncio.gather(self._connecting, return_exceptions=True)
        if self._client is not None:
            with contextlib.suppress(Error, TimeoutError, asyncio.TimeoutError):
                async with asyncio.timeout(DRAIN_SECONDS):
                    await self._client.drain()
            if not self._client.is_closed:
                await self._client.close()
        for task in self._answering:
            task.cancel()
        await asyncio.gather(*self._answering, return_exceptions=True)

    async def _connect(self) -> None:
        while True:
            try:
                client = await nats.connect(
                    self._url,
                    connect_timeout=CONNECT_SECONDS,
                    max_reconnect_attempts=-1,
                    reconnect_time_wait=RETRY_SECONDS,
                    error_cb=_noted,
                    disconnected_cb=self._lost,
                    reconnected_cb=self._back,
                )
                break
            except (OSError, Error, TimeoutError) as error:
                log.warning("The broker at %s can't be reached, trying again: %s", self.place, error)
                await asyncio.sleep(RETRY_SECONDS)
        self._client = client
        for door in self._doors:
            await client.subscribe(door.subject, queue=door.group, cb=self._opened(door))
        # Twice: the client sends the first ping ahead of the subscriptions, so that its answer tells nothing of them.
        await client.flush()
        await client.flush()
        self._connected.set()
        log.info("Connected to the broker at %s.", self.place)

    def _opened(self, door: Door) -> Callable[[Msg], Awaitable[None]]:
        turn = asyncio.Semaphore(AT_ONCE)

        async def answer(message: Msg) -> None:
            async with turn:
                await self._answer(door, message)

        async def take(message: Msg) -> None:
            # Not awaited: the client gives out one message of a subscription at a time.
            task = asyncio.create_task(answer(message))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)

        return take

    async def _answer(self, door: Door, message: Msg) -> None:
        if not message.reply:
            log.warning("A request to %s names no place for its reply and is dropped.", door.subject)
            return
        try:
            reply = write_reply(await door.handler(message.data, message.headers or {}), message._client.max_payload)
        except Exception as error:
            if not isinstance(error, OporaError):
                log.exception("A request to %s broke down.", door.subject)
            reply = write_error(error)
        try:
            await message.respond(reply)
        except Error as error:
            log.warning("A reply of %s was lost: %s", door.subject, error or type(error).__name__)

    async def _lost(self) -> None:
        log.warning("The connection to the broker at %s was lost.", self.place)

    async def _back(self) -> None:
        log.info("The broker at %s is back.", self.place)


async def _noted(error: Exception) -> None:
    log.debug("The broker's client says: %s", error)
