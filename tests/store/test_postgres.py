"""What is special about PostgreSQL: servers that share it, that it may be away, and what is said then."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.servers.redis import free_port

from opora.domain.errors import Busy, InvalidInput, Unavailable
from opora.store.database import SqlDatabase

SECRET = "very-secret-word"


async def test_what_one_server_writes_another_reads(postgres_url: str) -> None:
    one, two = await SqlDatabase(postgres_url).open(), await SqlDatabase(postgres_url).open()
    async with one.begin() as stored:
        await stored.set_fact("name", "Ёлка 出差")
    async with two.read() as stored:
        assert await stored.get_fact("name") == "Ёлка 出差"
    await one.close()
    await two.close()


async def test_servers_that_start_at_once_make_the_schema_once(postgres_server: Any) -> None:
    url = await postgres_server.create_empty()
    databases = [SqlDatabase(url) for _ in range(4)]
    await asyncio.gather(*(database.open() for database in databases))
    async with databases[0].read() as stored:
        assert await stored.get_fact("name") is None
    for database in databases:
        await database.close()


async def test_writers_of_several_servers_lose_nothing(postgres_url: str) -> None:
    databases = [await SqlDatabase(postgres_url).open() for _ in range(3)]

    async def add_one(database: SqlDatabase) -> None:
        async with database.begin() as stored:
            count = int(await stored.get_fact("count") or 0)
            await stored.set_fact("count", str(count + 1))

    await asyncio.gather(*(add_one(database) for database in databases for _ in range(10)))
    async with databases[0].read() as stored:
        assert await stored.get_fact("count") == "30"
    for database in databases:
        await database.close()


async def test_a_schema_of_a_newer_version_is_refused(postgres_server: Any, postgres_url: str) -> None:
    name = postgres_url.partition("?")[0].rpartition("/")[2]
    await postgres_server.run("UPDATE alembic_version SET version_num = '9999'", name)
    newer = SqlDatabase(postgres_url)
    with pytest.raises(Unavailable, match="newer version"):
        await newer.open()
    await newer.close()


async def test_an_address_with_an_unknown_part_is_refused() -> None:
    wrong = SqlDatabase("postgresql://opora@127.0.0.1:1/opora?no_such_part=1")
    with pytest.raises(InvalidInput, match="no_such_part"):
        await wrong.open()
    await wrong.close()


async def test_a_server_that_is_away_is_named_and_no_password_is() -> None:
    away = SqlDatabase(f"postgresql://opora:{SECRET}@127.0.0.1:{free_port()}/opora")
    with pytest.raises(Unavailable) as told:
        await away.open()
    await away.close()
    assert "127.0.0.1" in f"{told.value.message} {told.value.hint}"
    assert SECRET not in f"{told.value} {told.value.hint}"


async def test_a_database_that_is_not_there_is_named(postgres_server: Any) -> None:
    absent = SqlDatabase(postgres_server.url("no_such_database"))
    with pytest.raises(Unavailable, match="no_such_database"):
        await absent.open()
    await absent.close()


async def test_connections_that_the_server_closed_are_replaced(postgres_server: Any, postgres_url: str) -> None:
    database = await SqlDatabase(postgres_url).open()
    async with database.begin() as stored:
        await stored.set_fact("name", "value")
    name = postgres_url.partition("?")[0].rpartition("/")[2]
    await postgres_server.run(
        f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}' AND pid <> pg_backend_pid()"
    )
    async with database.read() as stored:
        assert await stored.get_fact("name") == "value"
    await database.close()


async def test_a_connection_cut_in_the_middle_is_an_error_of_ours_and_leaves_nothing(
    postgres_server: Any, postgres_url: str
) -> None:
    database = await SqlDatabase(postgres_url).open()
    name = postgres_url.partition("?")[0].rpartition("/")[2]

    async def write() -> None:
        async with database.begin() as stored:
            await stored.set_fact("name", "half")
            await postgres_server.run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                f" WHERE datname = '{name}' AND pid <> pg_backend_pid()"
            )
            await stored.set_fact("other", "half")

    with pytest.raises(Unavailable):
        await write()
    async with database.begin() as stored:
        assert await stored.get_fact("name") is None
        await stored.set_fact("name", "whole")
    await database.close()


@pytest.mark.parametrize("url", ["mysql://a@b/c", "oracle://a@b/c", "sqlite3:///x"])
def test_other_databases_are_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="database"):
        SqlDatabase(url)


async def test_a_backup_is_left_to_its_own_tools(postgres_url: str, tmp_path: Any) -> None:
    database = await SqlDatabase(postgres_url).open()
    with pytest.raises(InvalidInput) as told:
        await database.backup(str(tmp_path / "copy"))
    assert "pg_dump" in told.value.hint
    await database.close()


async def test_servers_that_share_start_one_after_another(postgres_url: str) -> None:
    one, two = SqlDatabase(postgres_url), SqlDatabase(postgres_url)
    assert await one.own(shared=True), "it is alone"
    second = asyncio.create_task(two.own(shared=True))
    async with one.begin() as stored:
        await stored.set_fact("name", "put right before the second one works")
    assert not second.done()
    await one.started()
    assert not await second, "there is another one"
    await two.started()
    await one.close()
    await two.close()
    assert await one.own(shared=True)
    await one.close()


@pytest.mark.parametrize(("first", "second"), [(True, False), (False, True), (False, False)])
async def test_a_server_that_does_not_share_keeps_out_and_is_kept_out(
    postgres_url: str, first: bool, second: bool
) -> None:
    one, two = SqlDatabase(postgres_url), SqlDatabase(postgres_url)
    assert await one.own(shared=first)
    await one.started()
    with pytest.raises(Busy, match="Another server"):
        await two.own(shared=second)
    await one.close()
    assert await two.own(shared=second)
    await two.close()


async def cut(server: Any, url: str, database: SqlDatabase) -> None:
    """Returns when the client has read that its session is over."""
    assert database._ownership is not None
    over = asyncio.Event()
    database._ownership._driver.add_termination_listener(lambda _: over.set())
    name = url.partition("?")[0].rpartition("/")[2]
    await server.run(
        f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}' AND pid <> pg_backend_pid()"
    )
    await asyncio.wait_for(over.wait(), 10)


@pytest.mark.parametrize("shared", [True, False])
async def test_a_database_whose_session_was_cut_is_held_again(
    postgres_server: Any, postgres_url: str, shared: bool
) -> None:
    one, two = SqlDatabase(postgres_url), SqlDatabase(postgres_url)
    await one.own(shared=shared)
    await one.started()
    await cut(postgres_server, postgres_url, one)
    async with one.begin() as stored:
        await stored.set_fact("name", "value")
    with pytest.raises(Busy):
        await two.own(shared=False)
    await one.close()
    await two.close()


async def test_one_that_another_took_the_database_from_writes_no_more(postgres_server: Any, postgres_url: str) -> None:
    one, two = SqlDatabase(postgres_url), SqlDatabase(postgres_url)
    await one.own()
    await one.started()
    await cut(postgres_server, postgres_url, one)
    await two.own()
    with pytest.raises(Busy):
        async with one.begin():
            pytest.fail("it may not write")
    await two.close()
    async with one.begin() as stored:
        await stored.set_fact("name", "value")
    await one.close()
