"""The relational store behind `opora.ports.Database`: one writer at a time, readers on snapshots of their own."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from opora.domain.errors import InvalidInput, Unavailable
from opora.store.agents import SqlAgents
from opora.store.bases import SqlBases
from opora.store.chunks import SqlChunks
from opora.store.citations import SqlCitations
from opora.store.connection import Connection, unbroken
from opora.store.copies import SqlCopies
from opora.store.documents import SqlDocuments
from opora.store.driver import connect
from opora.store.enrichments import SqlEnrichments
from opora.store.facts import SqlFacts
from opora.store.faq import SqlFaq
from opora.store.graph import SqlGraph
from opora.store.images import SqlImages
from opora.store.memory import SqlMemory
from opora.store.messages import SqlMessages
from opora.store.migrate import migrate
from opora.store.models import SqlModels
from opora.store.ownership import Ownership
from opora.store.postgres import begin_in_postgres, postgres_engine
from opora.store.revisions import SqlRevisions
from opora.store.rounds import SqlRounds
from opora.store.sessions import SqlSessions
from opora.store.steps import SqlSteps
from opora.store.tags import SqlTags
from opora.store.work import SqlWork

BUSY_TIMEOUT_MS = 10_000
READERS = 8
_WRITES = "opora_writes"


class SqlRepositories:
    """The repositories of one open transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @cached_property
    def bases(self) -> SqlBases:
        return SqlBases(self._connection)

    @cached_property
    def copies(self) -> SqlCopies:
        return SqlCopies(self._connection)

    @cached_property
    def documents(self) -> SqlDocuments:
        return SqlDocuments(self._connection)

    @cached_property
    def chunks(self) -> SqlChunks:
        return SqlChunks(self._connection)

    @cached_property
    def tags(self) -> SqlTags:
        return SqlTags(self._connection)

    @cached_property
    def revisions(self) -> SqlRevisions:
        return SqlRevisions(self._connection)

    @cached_property
    def steps(self) -> SqlSteps:
        return SqlSteps(self._connection)

    @cached_property
    def enrichments(self) -> SqlEnrichments:
        return SqlEnrichments(self._connection)

    @cached_property
    def graph(self) -> SqlGraph:
        return SqlGraph(self._connection)

    @cached_property
    def sessions(self) -> SqlSessions:
        return SqlSessions(self._connection)

    @cached_property
    def messages(self) -> SqlMessages:
        return SqlMessages(self._connection)

    @cached_property
    def images(self) -> SqlImages:
        return SqlImages(self._connection)

    @cached_property
    def rounds(self) -> SqlRounds:
        return SqlRounds(self._connection)

    @cached_property
    def citations(self) -> SqlCitations:
        return SqlCitations(self._connection)

    @cached_property
    def memory(self) -> SqlMemory:
        return SqlMemory(self._connection)

    @cached_property
    def agents(self) -> SqlAgents:
        return SqlAgents(self._connection)

    @cached_property
    def models(self) -> SqlModels:
        return SqlModels(self._connection)

    @cached_property
    def faq(self) -> SqlFaq:
        return SqlFaq(self._connection)

    @cached_property
    def work(self) -> SqlWork:
        return SqlWork(self._connection)

    async def get_fact(self, name: str) -> str | None:
        return await SqlFacts(self._connection).get(name)

    async def set_fact(self, name: str, value: str) -> None:
        await SqlFacts(self._connection).set(name, value)


class SqlDatabase:
    """``url`` is ``sqlite+aiosqlite:///path`` or ``postgresql://user:password@host/name``.

    One writing transaction runs at a time, in either: what a use case has read stays true until it has written. In
    SQLite writers queue up here, in the process, rather than at the file's lock: nobody meets 'database is locked'.
    """

    def __init__(self, url: str, *, busy_timeout_ms: int = BUSY_TIMEOUT_MS) -> None:
        self._url = sa.make_url(url)
        self._is_sqlite = self._url.get_backend_name() == "sqlite"
        self._engine = _sqlite_engine(self._url, busy_timeout_ms) if self._is_sqlite else postgres_engine(self._url)
        self._writers = asyncio.Lock()
        self._ownership: Ownership | None = None

    async def open(self) -> SqlDatabase:
        """Bring the schema up to date; raises `Unavailable` when the database can't be opened."""
        async with self._transaction(writes=True) as connection:
            await migrate(connection)
        return self

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[SqlRepositories]:
        if self._ownership is not None:
            await unbroken(self._ownership.keep())
        async with self._transaction(writes=True) as connection:
            yield SqlRepositories(connection)

    @asynccontextmanager
    async def read(self) -> AsyncIterator[SqlRepositories]:
        async with self._transaction(writes=False) as connection:
            yield SqlRepositories(connection)

    @property
    def place(self) -> str:
        return self._url.database or "" if self._is_sqlite else self._url.render_as_string(hide_password=True)

    async def own(self, *, shared: bool = False) -> bool:
        """A file is owned with its folder (`opora.store.owner`)."""
        if self._is_sqlite:
            return True
        ownership = Ownership(self._engine, shared=shared)
        alone = await ownership.take()
        self._ownership = ownership
        return alone

    async def started(self) -> None:
        if self._ownership is not None:
            await self._ownership.started()

    async def backup(self, target: str) -> None:
        if not self._is_sqlite:
            raise InvalidInput("Only the SQLite database is backed up by Opora.", hint="Use pg_dump for PostgreSQL.")
        part = Path(target + ".part")
        part.unlink(missing_ok=True)
        try:
            async with self._engine.connect() as connection:
                driver: Any = (await connection.get_raw_connection()).driver_connection
                await driver.execute_fetchall("VACUUM INTO ?", (str(part),))
            part.replace(target)
        except Exception as error:
            part.unlink(missing_ok=True)
            raise Unavailable(f"The backup could not be written to {target}: {error}") from error

    async def close(self) -> None:
        if self._ownership is not None:
            await unbroken(self._ownership.close())
            self._ownership = None
        await self._engine.dispose()

    @asynccontextmanager
    async def _transaction(self, *, writes: bool) -> AsyncIterator[Connection]:
        async with self._writers if writes and self._is_sqlite else nullcontext():
            connection = self._engine.connect()
            try:
                await unbroken(_start(connection, writes, is_sqlite=self._is_sqlite))
                try:
                    yield Connection(connection)
                except BaseException:
                    await unbroken(connection.rollback())
                    raise
                if writes:
                    await unbroken(connection.commit())
            except (DBAPIError, sqlite3.Error) as error:
                cause = error.orig if isinstance(error, DBAPIError) else error
                raise Unavailable(f"The database failed: {cause}", hint="The server's log says more.") from error
            finally:
                if connection.sync_connection is not None:
                    await unbroken(connection.close())


async def _start(connection: AsyncConnection, writes: bool, *, is_sqlite: bool) -> None:
    if is_sqlite:
        await connection.start()
        await connection.execution_options(**{_WRITES: writes})
        await connection.begin()
    else:
        await begin_in_postgres(connection, writes=writes)


def _sqlite_engine(url: sa.URL, busy_timeout_ms: int) -> AsyncEngine:
    engine = create_async_engine(
        url,
        async_creator=lambda: connect(url.database or ":memory:", busy_timeout_ms),
        pool_size=READERS,
        max_overflow=READERS,
        pool_timeout=60,
    )

    def begin(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get(_WRITES)
        adapted: Any = connection.connection.dbapi_connection
        adapted.run_async(lambda driver: driver.execute_fetchall("BEGIN IMMEDIATE" if writes else "BEGIN"))

    sa.event.listen(engine.sync_engine, "begin", begin)
    return engine
