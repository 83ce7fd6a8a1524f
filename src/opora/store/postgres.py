"""The connection to PostgreSQL: the driver, the pool, and what is set on each connection."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from opora.domain.errors import InvalidInput, Unavailable

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
    await reach(connection)
    if writes:
        await connection.begin()
        await connection.execute(sa.select(sa.func.pg_advisory_xact_lock(WRITERS)))
    else:
        await connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        await connection.begin()


async def reach(connection: AsyncConnection) -> None:
    """Connect; raises `Unavailable`, which names the server and never the password, where that can't be done."""
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
