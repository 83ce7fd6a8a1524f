"""What is the SQLite engine's own: its file, its memory, its threads."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import apsw
import numpy as np
import pytest

from opora.domain.errors import EngineError
from opora.domain.scope import LOCAL_PRINCIPAL, BaseRef, Scope
from opora.domain.search import EngineHit, IndexRow
from opora.engines.sqlite import SqliteEngine, schema
from opora.engines.sqlite.segments import BLOCK_ROWS
from opora.text.terms import TERMS_VERSION

TENANT = LOCAL_PRINCIPAL.tenant_id
SCOPE = Scope(principal=LOCAL_PRINCIPAL, bases=(BaseRef(base_id="base", tenant_id=TENANT),))
DIMENSION = 8


def row(chunk_id: str, text: str, vector: np.ndarray | None = None, *, base: str = "base") -> IndexRow:
    return IndexRow(
        chunk_id=chunk_id,
        base_id=base,
        tenant_id=TENANT,
        document_id="d",
        text=text,
        vector=None if vector is None else vector.astype(np.float32).tobytes(),
        dimension=0 if vector is None else vector.size,
    )


def vectors(rows: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((rows, DIMENSION)).astype(np.float32)


async def top(engine: SqliteEngine, query: np.ndarray, *, top_k: int = 10) -> list[EngineHit]:
    return await engine.search_vector(SCOPE, query, top_k=top_k, threshold=0.0)


async def words(engine: SqliteEngine, query: str) -> list[str]:
    return [hit.chunk_id for hit in await engine.search_keyword(SCOPE, query, top_k=10)]


async def filled(path: Path) -> str:
    """Makes an index of one row; returns its generation."""
    engine = SqliteEngine(path)
    await engine.write(SCOPE, [row("a", "налоговая ставка", vectors(1)[0])])
    generation = await engine.generation()
    await engine.close()
    return generation


async def test_an_index_is_there_after_a_restart(tmp_path: Path) -> None:
    generation = await filled(tmp_path / "index.db")
    engine = SqliteEngine(tmp_path / "index.db")
    assert await words(engine, "ставки") == ["a"]
    assert [hit.chunk_id for hit in await top(engine, vectors(1)[0])] == ["a"]
    assert await engine.generation() == generation
    await engine.close()


@pytest.mark.parametrize("damage", ["no database", "torn pages", "other version", "marked"])
async def test_an_unusable_file_is_set_aside_and_made_anew(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "index.db"
    old = await filled(path)
    if damage == "no database":
        path.write_bytes(b"not a database" * 1000)
    elif damage == "torn pages":
        path.write_bytes(path.read_bytes()[:4096] + b"\xff" * (path.stat().st_size - 4096))
    elif damage == "other version":
        with apsw.Connection(str(path)) as connection:
            connection.pragma("user_version", schema.SCHEMA_VERSION + 1)
        connection.close()
    else:
        schema.mark_damaged(path)
    engine = SqliteEngine(path, clock=lambda: datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC))
    with caplog.at_level(logging.WARNING):
        assert await engine.generation() != old
    assert "set aside" in caplog.text
    assert (tmp_path / "index.db.damaged-20250102T030405000000").exists()
    assert await words(engine, "ставка") == []
    await engine.write(SCOPE, [row("b", "налоговая ставка")])
    assert await words(engine, "ставка") == ["b"]
    new = await engine.generation()
    await engine.close()
    again = SqliteEngine(path)
    assert await again.generation() == new
    await again.close()


async def test_damage_met_at_work_raises_and_is_mended_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    await filled(path)
    engine = SqliteEngine(path)

    def broken(connection: apsw.Connection) -> None:
        raise apsw.CorruptError("database disk image is malformed")

    old = await engine.generation()
    with pytest.raises(EngineError, match="damaged"):
        await engine._connections.read(broken)
    await engine.close()
    again = SqliteEngine(path)
    assert await again.generation() != old
    await again.close()


async def test_a_place_that_holds_no_file_is_an_error_and_not_an_empty_answer(tmp_path: Path) -> None:
    (tmp_path / "index.db").mkdir()
    engine = SqliteEngine(tmp_path / "index.db")
    with pytest.raises(EngineError):
        await words(engine, "ставка")
    await engine.close()


async def test_a_failed_write_leaves_both_arms_as_they_were(tmp_path: Path) -> None:
    engine = SqliteEngine(tmp_path / "index.db")
    await engine.write(SCOPE, [row("a", "старый текст", vectors(1)[0])])

    def half(connection: apsw.Connection) -> None:
        connection.execute("DELETE FROM vector")
        connection.execute("DELETE FROM words_1 WHERE rowid = 1")
        raise apsw.FullError("database or disk is full")

    with pytest.raises(EngineError, match="full"):
        await engine._connections.write(half)
    assert await words(engine, "старый") == ["a"]
    assert len(await top(engine, vectors(1)[0])) == 1
    await engine.close()


async def test_words_of_another_version_are_made_again_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    generation = await filled(path)
    with apsw.Connection(str(path)) as connection:
        connection.execute("UPDATE base SET terms_version = 'old'")
        connection.execute("DELETE FROM words_1")
        connection.execute("UPDATE row SET length = 99")
        assert schema.outdated_bases(connection) == [1]
    connection.close()
    engine = SqliteEngine(path)
    assert await words(engine, "ставки") == ["a"]
    assert await engine.generation() == generation, "vectors are kept, so nothing need be filled anew"
    assert len(await top(engine, vectors(1)[0])) == 1
    await engine.close()
    with apsw.Connection(str(path)) as connection:
        assert connection.execute("SELECT terms_version FROM base").get == TERMS_VERSION
        assert connection.execute("SELECT length FROM row").get == 2
    connection.close()


async def test_a_base_larger_than_memory_is_searched_with_the_same_result(tmp_path: Path) -> None:
    many = vectors(BLOCK_ROWS + 500)
    rows = [row(f"c{i:05}", f"слово{i % 7}", v) for i, v in enumerate(many)]
    roomy, tight = SqliteEngine(tmp_path / "roomy.db"), SqliteEngine(tmp_path / "tight.db", segment_bytes=1000)
    for engine in (roomy, tight):
        await engine.write(SCOPE, rows)
        await engine.set_enabled(SCOPE, "base", {f"c{i:05}": False for i in range(0, 2000, 3)})
    for query in vectors(3, seed=9):
        assert await top(roomy, query) == await top(tight, query)
    assert await words(roomy, "слово3") == await words(tight, "слово3")
    assert tight._segments.nbytes == 0
    await roomy.close()
    await tight.close()


async def test_memory_for_hot_bases_stays_in_its_budget(tmp_path: Path) -> None:
    one_base = 100 * (DIMENSION * 4 + 8)
    engine = SqliteEngine(tmp_path / "index.db", segment_bytes=2 * one_base + 50)
    for name in ("A", "B", "C", "D"):
        where = Scope(principal=LOCAL_PRINCIPAL, bases=(BaseRef(base_id=name, tenant_id=TENANT),))
        await engine.write(where, [row(f"{name}{i}", "слово", v, base=name) for i, v in enumerate(vectors(100))])
    for name in ("A", "B", "C", "D", "A", "C"):
        where = Scope(principal=LOCAL_PRINCIPAL, bases=(BaseRef(base_id=name, tenant_id=TENANT),))
        hits = await engine.search_vector(where, vectors(1)[0], top_k=3, threshold=0.0)
        assert hits[0].chunk_id == f"{name}0"
        assert 0 < engine._segments.nbytes <= 2 * one_base + 50
    await engine.close()


async def test_searches_while_writing_see_whole_batches(tmp_path: Path) -> None:
    engine = SqliteEngine(tmp_path / "index.db", readers=2)
    query = vectors(1)[0]
    sizes: list[int] = []

    async def write() -> None:
        for batch in range(12):
            await engine.write(SCOPE, [row(f"c{batch}-{i}", "слово", query) for i in range(10)])
            if batch % 3 == 2:
                await engine.delete_chunks(SCOPE, "base", [f"c{batch}-{i}" for i in range(10)])

    async def search(writing: asyncio.Task[None]) -> None:
        while not writing.done():
            sizes.append(len(await top(engine, query, top_k=500)))
            assert len(await engine.search_keyword(SCOPE, "слово", top_k=500)) % 10 == 0

    writing = asyncio.create_task(write())
    await asyncio.gather(search(writing), search(writing), writing)
    assert {size % 10 for size in sizes} == {0}
    assert len(await top(engine, query, top_k=500)) == 80
    await engine.close()


async def test_a_long_read_does_not_hold_the_event_loop(tmp_path: Path) -> None:
    engine = SqliteEngine(tmp_path / "index.db")
    await engine.generation()
    begun, ticks = asyncio.Event(), count()
    loop = asyncio.get_running_loop()

    def slow(connection: apsw.Connection) -> int:
        loop.call_soon_threadsafe(begun.set)
        numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300000) SELECT sum(i) FROM n"
        return int(connection.execute(numbers).get)

    reading = asyncio.create_task(engine._connections.read(slow))
    await begun.wait()
    while not reading.done():
        next(ticks)
        await asyncio.sleep(0)
    assert await reading == 300000 * 300001 // 2
    assert next(ticks) > 1
    await engine.close()


async def test_deleting_leaves_no_row_in_any_table(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    engine = SqliteEngine(path)
    await engine.write(SCOPE, [row(f"c{i}", "слово", v) for i, v in enumerate(vectors(5))])
    await engine.set_tags(SCOPE, "base", {"c1": ["t"]})
    await engine.delete_documents(SCOPE, "base", ["d"])
    await engine.close()
    with apsw.Connection(str(path)) as connection:
        for table in ("row", "body", "vector", "tag", "terms_1"):
            assert connection.execute(f"SELECT count(*) FROM {table}").get == 0
    connection.close()
