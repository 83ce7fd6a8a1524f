"""A database connection whose calls are never cut off half-way.

Cancelling a call to the driver does not stop the thread that carries it out: the connection would be given up in the
middle, with its lock on the file still held. Here a cancelled caller waits for the call that is under way, which is
short, and is cancelled then; the transaction rolls back on a connection in a known state.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.asyncio import AsyncConnection

T = TypeVar("T")


async def unbroken(call: Awaitable[T]) -> T:
    """The call's result. A cancellation that comes meanwhile is raised after the call has ended."""
    task = asyncio.ensure_future(call)
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        if not task.cancelled():
            task.exception()
        raise asyncio.CancelledError
    return task.result()


class Connection:
    """What repositories use of SQLAlchemy's connection."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    @property
    def dialect(self) -> Dialect:
        return self._connection.dialect

    async def execute(self, statement: sa.Executable, rows: Any = None) -> sa.CursorResult[Any]:
        return await unbroken(self._connection.execute(statement, rows))

    async def scalar(self, statement: sa.Executable) -> Any:
        return await unbroken(self._connection.scalar(statement))

    async def scalars(self, statement: sa.Executable) -> sa.ScalarResult[Any]:
        return await unbroken(self._connection.scalars(statement))

    async def run_sync(self, work: Callable[[sa.Connection], T]) -> T:
        return await unbroken(self._connection.run_sync(work))

    async def fetch(self, query: str, parameters: tuple[Any, ...]) -> list[Any]:
        """Rows by the SQLite driver itself, in one hop to its thread."""
        driver: Any = (await self._connection.get_raw_connection()).driver_connection
        rows: list[Any] = await unbroken(driver.execute_fetchall(query, parameters))
        return rows
