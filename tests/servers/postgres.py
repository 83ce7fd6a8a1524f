"""A real PostgreSQL for the tests that need one: its own process and folder, a fresh database for each test."""

from __future__ import annotations

import asyncio
import itertools
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from opora.store.database import SqlDatabase

TEMPLATE = "opora_template"


@dataclass
class PostgresServer:
    """Databases are copies of one that was migrated once: a copy takes a few hundredths of a second."""

    server: Any
    folder: Path
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _is_ready: bool = False

    def url(self, name: str) -> str:
        """As the setting takes it; over a socket in the server's folder."""
        return f"postgresql://postgres@/{name}?host={self.folder}"

    async def run(self, statement: str, name: str = "postgres") -> list[Any]:
        import asyncpg

        connection = await asyncpg.connect(user="postgres", database=name, host=str(self.folder))
        try:
            return list(await connection.fetch(statement))
        finally:
            await connection.close()

    async def create(self) -> str:
        """A database with the present schema; its address."""
        if not self._is_ready:
            await self.run(f"CREATE DATABASE {TEMPLATE}")
            await (await SqlDatabase(self.url(TEMPLATE)).open()).close()
            self._is_ready = True
        name = f"test_{next(self._numbers)}"
        await self.run(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
        return self.url(name)

    async def create_empty(self) -> str:
        """A database without a schema."""
        name = f"empty_{next(self._numbers)}"
        await self.run(f"CREATE DATABASE {name}")
        return self.url(name)

    def stop(self) -> None:
        self.server.cleanup()


def start(folder: Path) -> PostgresServer:
    """Returns when it takes connections. As root, it runs as a user of its own."""
    run = folder / "run"
    run.mkdir(mode=0o700)
    os.environ.setdefault("XDG_RUNTIME_DIR", str(run))
    import pgserver

    data = folder / "pg"
    server = pgserver.get_server(str(data), cleanup_mode="delete")
    # What tests write need not outlive the machine.
    for setting in ("fsync", "synchronous_commit", "full_page_writes"):
        server.psql(f"ALTER SYSTEM SET {setting} = off")
    server.psql("SELECT pg_reload_conf()")
    return PostgresServer(server=server, folder=data)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """Not in pytest's own folder: each run takes from others the leave to enter it, and as root the server is another
    user."""
    with tempfile.TemporaryDirectory(prefix="opora-postgres-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        server = start(folder)
        yield server
        server.stop()


@pytest.fixture
async def postgres_url(postgres_server: PostgresServer) -> AsyncIterator[str]:
    """A database of the test's own."""
    yield await postgres_server.create()
    await asyncio.sleep(0)
