"""A pool of connections to PostgreSQL behind awaitable calls, each tried again on a new one when it was cut."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import asyncpg
import numpy as np
import numpy.typing as npt
import sqlalchemy as sa
from asyncpg.exceptions import (
    AdminShutdownError,
    CannotConnectNowError,
    DeadlockDetectedError,
    SerializationError,
)

from opora.domain.errors import EngineError, InvalidInput
from opora.engines.postgres import schema
from opora.engines.postgres.schema import Installed
from opora.ports import NewId

T = TypeVar("T")

POOL = 10
ATTEMPTS = 3
CONNECT_SECONDS = 10
STATEMENT_SECONDS = 60
DRIVER = "postgresql+asyncpg"
_SESSION = {
    "application_name": "opora search",
    "timezone": "UTC",
    "jit": "off",  # compiling a query takes longer than any of ours
    "plan_cache_mode": "force_custom_plan",  # a small and a large base want different plans
}
_PASSING = (
    AdminShutdownError,
    DeadlockDetectedError,
    SerializationError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    ConnectionError,
)
"""What may go well on a new connection: every call of the engine may be made twice."""
_HINT = "Check that PostgreSQL runs, and OPORA_DATABASE_URL; the server's log says more."


def connect_arguments(address: str) -> dict[str, Any]:
    """What the driver takes, read from the address as the relational store reads it."""
    try:
        url = sa.make_url(address).set(drivername=DRIVER)
        _, arguments = url.get_dialect()().create_connect_args(url)
    except (sa.exc.ArgumentError, ValueError) as error:
        raise InvalidInput.of(
            "database_url", "The address of the database can't be read.", hint="postgresql://user:password@host/name"
        ) from error
    return {name: value for name, value in arguments.items() if not name.startswith(("prepared_", "async_"))}


class Connections:
    """Opened at the first call. ``settings`` of the session hold for every connection."""

    def __init__(self, address: str, *, new_id: NewId) -> None:
        self._arguments = connect_arguments(address)
        self._new_id = new_id
        self._pool: Any = None
        self._installed: Installed | None = None
        self._opening = asyncio.Lock()
        self._closed = False

    @property
    def installed(self) -> Installed:
        if self._installed is None:
            raise EngineError("The search index is not open.")
        return self._installed

    async def run(self, work: Callable[[Any], Awaitable[T]]) -> T:
        """``work`` with a connection of the pool; statements outside of a transaction commit one by one."""
        for attempt in range(1, ATTEMPTS + 1):
            if self._closed:
                raise EngineError("The search index is closed.", hint="Start Opora again.")
            try:
                async with (await self._opened()).acquire() as connection:
                    try:
                        return await work(connection)
                    except asyncpg.InternalClientError:
                        connection.terminate()  # it was cut in the middle of a message: nothing can be asked over it
                        raise
            except _PASSING as error:
                if attempt == ATTEMPTS or self._closed:
                    raise _failed(error) from error
            except (asyncpg.PostgresError, OSError, TimeoutError) as error:
                raise _failed(error) from error
        raise AssertionError("unreachable")  # pragma: no cover

    async def transact(self, work: Callable[[Any], Awaitable[T]]) -> T:
        """``work`` in one transaction, committed when it returns."""

        async def whole(connection: Any) -> T:
            async with connection.transaction():
                return await work(connection)

        return await self.run(whole)

    async def alone(self, work: Callable[[Any], Awaitable[T]]) -> T:
        """``work`` on a connection of its own without a time limit, for what takes long."""
        await self.run(_nothing)
        connection = await self._connect(self.installed.search_path)
        try:
            return await work(connection)
        finally:
            await connection.close()

    async def close(self) -> None:
        """Let running calls end; later calls raise."""
        if self._closed:
            return
        self._closed = True
        if self._pool is not None:
            await self._pool.close()

    async def _opened(self) -> Any:
        async with self._opening:
            if self._pool is None:
                first = await self._connect("")
                try:
                    self._installed = await schema.set_up(first, self._new_id)
                finally:
                    await first.close()
                self._pool = await self._make_pool(self._installed)
        return self._pool

    async def _make_pool(self, installed: Installed) -> Any:
        async def prepare(connection: Any) -> None:
            await connection.set_type_codec(
                "halfvec", schema=installed.namespace, encoder=_encode, decoder=_decode, format="binary"
            )

        limit = str(STATEMENT_SECONDS * 1000)
        limits = {"statement_timeout": limit, "idle_in_transaction_session_timeout": limit}
        return await asyncpg.create_pool(
            **self._arguments,
            min_size=0,
            max_size=POOL,
            timeout=CONNECT_SECONDS,
            init=prepare,
            reset=_nothing,  # no call leaves anything behind in its session
            server_settings={**_SESSION, **limits, "search_path": installed.search_path},
        )

    async def _connect(self, search_path: str) -> Any:
        settings = {**_SESSION, "search_path": search_path} if search_path else _SESSION
        try:
            return await asyncpg.connect(**self._arguments, timeout=CONNECT_SECONDS, server_settings=settings)
        except TypeError as error:
            raise InvalidInput.of(
                "database_url", f"The address of the database has a part that is not known: {error}."
            ) from error
        except (CannotConnectNowError, asyncpg.PostgresError, OSError, TimeoutError, ssl.SSLError) as error:
            raise _failed(error) from error


async def _nothing(_: Any) -> None:
    return None


def _failed(error: BaseException) -> EngineError:
    reason = str(error).partition("\n")[0] or type(error).__name__
    return EngineError(f"The search index in PostgreSQL could not be used: {reason}", hint=_HINT)


def _encode(vector: npt.NDArray[np.float32]) -> bytes:
    """pgvector's own form: how many numbers, two bytes of nothing, the numbers in half precision."""
    return vector.size.to_bytes(2, "big") + bytes(2) + vector.astype(">f2").tobytes()


def _decode(data: bytes) -> npt.NDArray[np.float32]:
    return np.frombuffer(data, ">f2", offset=4).astype(np.float32)
