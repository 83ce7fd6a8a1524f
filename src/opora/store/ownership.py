"""Which servers have a PostgreSQL database: one alone, or several that share it."""

from __future__ import annotations

import asyncio
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from opora.domain.errors import Busy, Unavailable
from opora.store.postgres import OWNER, STARTING, reach


class Ownership:
    """Held by the locks of one session, which end with it, however the process ends.

    Servers that share start one after another, by `started`: what a first one puts right is done before a second one
    works. A session that was cut is made again before the next write.
    """

    def __init__(self, engine: AsyncEngine, *, shared: bool) -> None:
        self._engine = engine
        self._shared = shared
        self._connection: AsyncConnection | None = None
        self._driver: Any = None
        self._keeping = asyncio.Lock()

    async def take(self) -> bool:
        """True when no other server has the database. Raises `Busy` when one has it that does not share, or this one
        does not."""
        connection = await self._session()
        try:
            await connection.execute(sa.select(sa.func.pg_advisory_lock(STARTING)))
            alone = await _try(connection, sa.func.pg_try_advisory_lock)
            held = alone
            if self._shared:
                held = await _try(connection, sa.func.pg_try_advisory_lock_shared)
                if alone:
                    await connection.execute(sa.select(sa.func.pg_advisory_unlock(OWNER)))
            if not held:
                raise self._busy()
        except sa.exc.DBAPIError as error:
            await connection.close()
            raise Unavailable(
                f"The database can't be taken: {error.orig}.", hint="Is another server starting?"
            ) from error
        except BaseException:
            await connection.close()
            raise
        await self._hold(connection)
        return alone

    async def started(self) -> None:
        if self._connection is not None:
            await self._connection.execute(sa.select(sa.func.pg_advisory_unlock(STARTING)))

    async def keep(self) -> None:
        """Raises `Busy` when the session was cut and another server has the database since."""
        if not self._driver.is_closed():
            return
        async with self._keeping:
            if not self._driver.is_closed():
                return
            connection = await self._session()
            take = sa.func.pg_try_advisory_lock_shared if self._shared else sa.func.pg_try_advisory_lock
            try:
                if not await _try(connection, take):
                    raise self._busy()
            except BaseException:
                await connection.close()
                raise
            await self.close()
            await self._hold(connection)

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    async def _session(self) -> AsyncConnection:
        connection = self._engine.connect()
        await reach(connection)
        return await connection.execution_options(isolation_level="AUTOCOMMIT")

    async def _hold(self, connection: AsyncConnection) -> None:
        self._connection = connection
        self._driver = (await connection.get_raw_connection()).driver_connection

    def _busy(self) -> Busy:
        return Busy(
            f"Another server works on {self._engine.url.render_as_string(hide_password=True)}.",
            hint="Stop it, or set OPORA_DATABASE_URL to a database of this server's own. Servers can share one with"
            " RETRIEVE_DRIVER=postgres and STREAM_MANAGER_TYPE=redis in all of them.",
        )


async def _try(connection: AsyncConnection, lock: Any) -> bool:
    return bool(await connection.scalar(sa.select(lock(OWNER))))
