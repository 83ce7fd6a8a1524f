"""Transactions: one writer at a time, snapshots, all or nothing, also when cancelled."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from opora.domain.errors import Unavailable
from opora.store.database import SqlDatabase
from opora.store.migrate import FOLDER, HEAD
from opora.store.tables import metadata


async def test_migrations_make_the_schema_of_the_tables(database: SqlDatabase) -> None:
    async with database._transaction(writes=False) as connection:
        found = await connection.run_sync(lambda sync: compare_metadata(MigrationContext.configure(sync), metadata))
    assert found == []


def test_head_is_the_newest_migration() -> None:
    assert ScriptDirectory(str(FOLDER)).get_current_head() == HEAD


async def test_opening_again_keeps_what_is_there(file_database: SqlDatabase, tmp_path: Path) -> None:
    async with file_database.begin() as stored:
        await stored.set_fact("name", "value")
    again = await SqlDatabase(f"sqlite+aiosqlite:///{tmp_path}/opora.db").open()
    async with again.read() as stored:
        assert await stored.get_fact("name") == "value"
    await again.close()


async def test_a_database_of_a_newer_version_is_refused(file_database: SqlDatabase, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "opora.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    newer = SqlDatabase(f"sqlite+aiosqlite:///{tmp_path}/opora.db")
    with pytest.raises(Unavailable, match="newer version"):
        await newer.open()
    await newer.close()


async def test_a_file_that_is_no_database_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "opora.db").write_bytes(b"this is not a database, it only looks long enough" * 100)
    broken = SqlDatabase(f"sqlite+aiosqlite:///{tmp_path}/opora.db")
    with pytest.raises(Unavailable):
        await broken.open()
    await broken.close()


async def test_an_exception_rolls_back(database: SqlDatabase) -> None:
    async def fail() -> None:
        async with database.begin() as stored:
            await stored.set_fact("name", "value")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    async with database.read() as stored:
        assert await stored.get_fact("name") is None


async def test_a_reader_sees_one_moment(database: SqlDatabase) -> None:
    async with database.read() as before:
        assert await before.get_fact("name") is None
        async with database.begin() as stored:
            await stored.set_fact("name", "value")
        assert await before.get_fact("name") is None
    async with database.read() as after:
        assert await after.get_fact("name") == "value"


async def test_many_writers_lose_nothing(database: SqlDatabase) -> None:
    async def add_one() -> None:
        async with database.begin() as stored:
            count = int(await stored.get_fact("count") or 0)
            await stored.set_fact("count", str(count + 1))

    await asyncio.gather(*(add_one() for _ in range(30)))
    async with database.read() as stored:
        assert await stored.get_fact("count") == "30"


async def test_a_cancelled_writer_leaves_no_lock_and_no_trace(database: SqlDatabase) -> None:
    inside = asyncio.Event()

    async def never_ends() -> None:
        async with database.begin() as stored:
            await stored.set_fact("name", "half")
            inside.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(never_ends())
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with database.begin() as stored:
        assert await stored.get_fact("name") is None
        await stored.set_fact("name", "whole")
    async with database.read() as stored:
        assert await stored.get_fact("name") == "whole"


@pytest.mark.parametrize("turns", range(0, 40, 3))
async def test_a_writer_may_be_cancelled_at_any_turn_of_the_loop(database: SqlDatabase, turns: int) -> None:
    async def write() -> None:
        async with database.begin() as stored:
            await stored.set_fact("first", "x")
            await stored.set_fact("second", "x")

    task = asyncio.create_task(write())
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    async with database.begin() as stored:
        assert await stored.get_fact("first") == await stored.get_fact("second")
        await stored.set_fact("third", "x")


async def test_a_file_that_somebody_else_holds_is_an_error_of_ours(file_database: SqlDatabase, tmp_path: Path) -> None:
    hasty = SqlDatabase(f"sqlite+aiosqlite:///{tmp_path}/opora.db", busy_timeout_ms=1)
    async with file_database.begin():
        with pytest.raises(Unavailable, match="locked"):
            await hasty.open()
    await hasty.open()
    await hasty.close()


async def test_a_backup_is_a_whole_database(file_database: SqlDatabase, tmp_path: Path) -> None:
    async with file_database.begin() as stored:
        await stored.set_fact("name", "value")
    target = tmp_path / "copy.db"
    target.write_text("an older backup")
    await file_database.backup(str(target))
    copy = await SqlDatabase(f"sqlite+aiosqlite:///{target}").open()
    async with copy.read() as stored:
        assert await stored.get_fact("name") == "value"
    await copy.close()


async def test_a_backup_that_fails_leaves_nothing(file_database: SqlDatabase, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="backup"):
        await file_database.backup(str(tmp_path / "no such folder" / "copy.db"))
    assert not list(tmp_path.glob("**/*.part"))
