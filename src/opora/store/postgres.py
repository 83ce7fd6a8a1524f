"""The connection to PostgreSQL: the driver, the pool, and what is set on each connection."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from opora.domain.errors import Busy, InvalidInput, Unavailable

POOL = 10
OVERFLOW = 10
POOL_SECONDS = 60
CONNECT_SECONDS = 10
STATEMENT_SECONDS = 60
IDLE_SECONDS = 60
"""A server that hangs in the middle of a transaction is cut off, so that the writers of others go on."""
WRITERS = 0x6F706F7261
"""The advisory lock of whoever writes, over all servers of the database."""
OWNER = WRITERS + 1
"""The advisory lock of the servers of a database: of one alone, or of several together."""
STARTING = WRITERS + 2
"""The advisory lock of the server that is starting."""
DRIVER = "postgresql+asyncpg"
BACKENDS = frozenset({"postgresql", "postgres"})


def postgres_engine(url: sa.URL) -> AsyncEngine:
    """A pool whose connections are looked at before they are used: one that the server closed is replaced.

    Raises `InvalidInput` for another kind of database, and where the driver is not installed.
    """
    if url.get_backend_name() not in BACKENDS and url.drivername not in BACKENDS:
        raise InvalidInput.of(
            "database_url",
            f"Opora keeps nothing in a database of the kind '{url.drivername}'.",
            hint="Such as postgresql://user:password@host/opora; leave it out for SQLite.",
        )
    try:
        return create_async_engine(
            url.set(drivername=DRIVER),
            pool_size=POOL,
            max_overflow=OVERFLOW,
            pool_timeout=POOL_SECONDS,
            pool_pre_ping=True,
            connect_args={
                "timeout": CONNECT_SECONDS,
                "server_settings": {
                    "application_name": "opora",
                    "timezone": "UTC",
                    "statement_timeout": str(STATEMENT_SECONDS * 1000),
                    "idle_in_transaction_session_timeout": str(IDLE_SECONDS * 1000),
                },
            },
        )
    except ModuleNotFoundError as error:
        raise InvalidInput.of(
            "database_url", "The driver for PostgreSQL is not installed.", hint="Install opora[postgres]."
        ) from error


async def begin_in_postgres(connection: AsyncConnection, *, writes: bool) -> None:
    """A reader gets one snapshot for the whole transaction; a writer waits for its turn and reads what is committed.

    Raises `Unavailable`, which names the server and never the password, where it can't be reached.
    """
    await _connect(connection)
    if writes:
        await connection.begin()
        await connection.execute(sa.select(sa.func.pg_advisory_xact_lock(WRITERS)))
    else:
        await connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        await connection.begin()


async def own_in_postgres(engine: AsyncEngine, *, shared: bool) -> tuple[AsyncConnection, bool]:
    """A connection that holds the database, until it is closed or the process dies; and whether no other server does.

    Servers that share it start one after another, by `let_others_start`: what a first one puts right is done before
    a second one works. Raises `Busy` when a server holds it that does not share, or this one does not.
    """
    connection = engine.connect()
    await _connect(connection)
    try:
        await connection.execution_options(isolation_level="AUTOCOMMIT")
        await connection.execute(sa.select(sa.func.pg_advisory_lock(STARTING)))
        alone = bool(await connection.scalar(sa.select(sa.func.pg_try_advisory_lock(OWNER))))
        held = alone
        if shared:
            held = bool(await connection.scalar(sa.select(sa.func.pg_try_advisory_lock_shared(OWNER))))
            if alone:
                await connection.execute(sa.select(sa.func.pg_advisory_unlock(OWNER)))
        if not held:
            raise Busy(
                f"Another server works on {engine.url.render_as_string(hide_password=True)}.",
                hint="Stop it, or set OPORA_DATABASE_URL to a database of this server's own. Servers can share one with"
                " RETRIEVE_DRIVER=postgres and STREAM_MANAGER_TYPE=redis in all of them.",
            )
    except sa.exc.DBAPIError as error:
        await connection.close()
        raise Unavailable(f"The database can't be used: {error.orig}.", hint="Is another server starting?") from error
    except BaseException:
        await connection.close()
        raise
    return connection, alone


async def let_others_start(connection: AsyncConnection) -> None:
    await connection.execute(sa.select(sa.func.pg_advisory_unlock(STARTING)))


async def _connect(connection: AsyncConnection) -> None:
    where = connection.engine.url.render_as_string(hide_password=True)
    try:
        await connection.start()
    except sa.exc.DBAPIError as error:
        raise _unreached(where, error.orig or error) from error
    except TypeError as error:
        raise InvalidInput.of(
            "database_url", f"The address of the database has a part that is not known: {error}."
        ) from error
    except (OSError, TimeoutError, sa.exc.TimeoutError) as error:
        raise _unreached(where, error) from error


def _unreached(where: str, error: BaseException) -> Unavailable:
    reason = str(error).partition("\n")[0].rpartition("'>: ")[2] or type(error).__name__
    return Unavailable(
        f"The database {where} can't be used: {reason}.", hint="Check that PostgreSQL runs, and OPORA_DATABASE_URL."
    )
