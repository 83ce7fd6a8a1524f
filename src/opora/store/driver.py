"""The SQLite driver, with one hop to its thread for a statement and its rows.

aiosqlite makes a hop each for the cursor, the statement, the rows and the close. A hop costs more than most of our
queries, and SQLAlchemy reads all rows at once anyway.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from typing import Any

import aiosqlite

PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
)


class OneHopCursor:
    """As much of a cursor as SQLAlchemy asks of one that is not server-side."""

    arraysize = 1

    def __init__(self, connection: OneHopConnection) -> None:
        self._connection = connection
        self._rows: list[Any] = []
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None

    async def __aenter__(self) -> OneHopCursor:
        return self

    async def execute(self, statement: str, parameters: Any = ()) -> OneHopCursor:
        await self._connection.in_thread(self._run, statement, parameters, False)
        return self

    async def executemany(self, statement: str, parameters: Sequence[Any]) -> OneHopCursor:
        await self._connection.in_thread(self._run, statement, parameters, True)
        return self

    async def fetchall(self) -> list[Any]:
        rows, self._rows = self._rows, []
        return rows

    async def close(self) -> None:
        self._rows = []

    def _run(self, driver: sqlite3.Connection, statement: str, parameters: Any, many: bool) -> None:
        cursor = driver.executemany(statement, parameters) if many else driver.execute(statement, parameters)
        self.description = cursor.description
        self._rows = cursor.fetchall() if cursor.description else []
        self.rowcount, self.lastrowid = cursor.rowcount, cursor.lastrowid
        cursor.close()


class OneHopConnection(aiosqlite.Connection):
    def cursor(self) -> Any:
        return OneHopCursor(self)

    async def in_thread(self, work: Any, *arguments: Any) -> Any:
        return await self._execute(lambda: work(self._conn, *arguments))  # type: ignore[no-untyped-call]


async def connect(path: str, busy_timeout_ms: int) -> OneHopConnection:
    """A connection in autocommit mode: transactions are begun and ended by those who use it."""
    # Opened before aiosqlite starts its thread, which does not end cleanly when opening fails.
    driver = await asyncio.to_thread(_open, path, busy_timeout_ms)
    connection = OneHopConnection(lambda: driver, iter_chunk_size=64)
    connection._thread.daemon = True  # a process that forgot to close must still end
    await connection
    return connection


def _open(path: str, busy_timeout_ms: int) -> sqlite3.Connection:
    # The driver's own implicit BEGIN is off: it would open a writing transaction as a reading one first, and two of
    # them that both go on to write can only fail.
    driver = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        for pragma in (f"PRAGMA busy_timeout = {busy_timeout_ms}", *PRAGMAS):
            driver.execute(pragma)
    except sqlite3.Error:
        driver.close()
        raise
    return driver
