"""One writing thread and a few reading threads, each with its own connection, behind awaitable calls."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import apsw

from opora.domain.errors import EngineError
from opora.engines.sqlite import schema
from opora.ports import Clock, NewId

T = TypeVar("T")

_HINT = "Look at the disk and at the log; the index can be thrown away, Opora fills it again from its database."


class Connections:
    """Runs functions of a connection in threads of its own, so that the event loop never waits for the disk."""

    def __init__(self, path: Path, *, readers: int, new_id: NewId, clock: Clock) -> None:
        self._path = path
        self._new_id = new_id
        self._clock = clock
        self._write_pool = ThreadPoolExecutor(1, thread_name_prefix="opora-index-write")
        self._read_pool = ThreadPoolExecutor(readers, thread_name_prefix="opora-index-read")
        self._writer: apsw.Connection | None = None
        self._local = threading.local()
        self._readers: list[apsw.Connection] = []
        self._closed = False

    async def write(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run ``work`` in the writing thread, in one transaction that is committed when it returns."""

        return await self._run(self._write_pool, lambda: _transact(self._open_writer(), "BEGIN IMMEDIATE", work))

    async def read(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run ``work`` in a reading thread, on one consistent snapshot."""
        if self._writer is None:
            await self._run(self._write_pool, self._open_writer)

        return await self._run(self._read_pool, lambda: _transact(self._open_reader(), "BEGIN", work))

    async def close(self) -> None:
        """Let running calls end, then close the file; later calls raise."""
        if self._closed:
            return
        self._closed = True
        await asyncio.to_thread(self._shut)

    async def _run(self, pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        if self._closed:
            raise EngineError("The search index is closed.", hint="Start Opora again.")
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, work)
        except (apsw.NotADBError, apsw.CorruptError) as error:
            schema.mark_damaged(self._path)
            raise EngineError("The search index is damaged.", hint="Start Opora again: it is made anew.") from error
        except (apsw.Error, OSError) as error:
            raise EngineError(f"The search index could not be used: {error}", hint=_HINT) from error

    def _open_writer(self) -> apsw.Connection:
        if self._writer is None:
            self._writer = schema.open_writer(self._path, new_id=self._new_id, clock=self._clock)
        return self._writer

    def _open_reader(self) -> apsw.Connection:
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = schema.open_reader(self._path)
            self._readers.append(connection)
        return connection

    def _shut(self) -> None:
        self._write_pool.shutdown()
        self._read_pool.shutdown()
        for connection in self._readers:
            connection.close()
        if self._writer is not None:
            self._writer.close()


def _transact(connection: apsw.Connection, begin: str, work: Callable[[apsw.Connection], T]) -> T:
    connection.execute(begin)
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return result
