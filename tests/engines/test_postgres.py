"""What is special about the engine in PostgreSQL: its indexes, its schema, and that servers share it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncpg
import numpy as np
import numpy.typing as npt
import pytest
from tests.servers.redis import free_port

from opora.domain.errors import EngineError, InvalidInput
from opora.domain.scope import LOCAL_PRINCIPAL, BaseRef, Scope
from opora.domain.search import IndexRow, ScoreKind
from opora.engines.postgres import PostgresEngine, fulltext, hnsw, schema, write
from opora.engines.postgres import vector as vector_arm
from opora.engines.postgres.vector import candidates, nearest
from opora.engines.postgres.visible import bases_of
from opora.engines.sqlite import SqliteEngine

TENANT = "default"
SECRET = "very-secret-word"
Matrix = npt.NDArray[np.float32]


def scope(*bases: str, **limits: Any) -> Scope:
    refs = tuple(BaseRef(base_id=base, tenant_id=TENANT) for base in bases or ("base",))
    return Scope(principal=LOCAL_PRINCIPAL, bases=refs, **limits)


def row(chunk_id: str, text: str = "слово", vector: Any = None, *, base: str = "base", document: str = "d") -> IndexRow:
    return IndexRow(
        chunk_id=chunk_id,
        base_id=base,
        tenant_id=TENANT,
        document_id=document,
        text=text,
        vector=None if vector is None else np.asarray(vector, np.float32).tobytes(),
        dimension=0 if vector is None else len(vector),
    )


def name_of(url: str) -> str:
    return url.partition("?")[0].rpartition("/")[2]


@pytest.fixture
async def url(postgres_server: Any) -> str:
    empty: str = await postgres_server.create_empty()
    return empty


@pytest.fixture
async def engine(url: str) -> AsyncIterator[PostgresEngine]:
    engine = PostgresEngine(url)
    yield engine
    await engine.close()


def cloud(count: int, size: int, seed: int = 1) -> Matrix:
    """Points near a plane of few directions, as embeddings are."""
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((count, 6)) @ rng.standard_normal((6, size)) + 0.3 * rng.standard_normal((count, size))
    return (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)


async def fill(engine: PostgresEngine, points: Matrix, *, base: str = "base", documents: int = 50) -> None:
    rows = [
        row(f"{base}-{i:05}", f"слово{i % 7}", v, base=base, document=f"d{i % documents}") for i, v in enumerate(points)
    ]
    await engine.write(scope(base), rows)
    await engine.settle()


async def plan(engine: PostgresEngine, where: Scope, query: Matrix) -> str:
    async def explain(connection: Any) -> str:
        asked = nearest(await bases_of(connection, where), where, query, top_k=candidates(10))
        lines = await connection.fetch(f"EXPLAIN {asked.text}", *asked.values)
        return "\n".join(line for (line,) in lines)

    return await engine._connections.run(explain)


# --- indexes of vectors ---------------------------------------------------------------------------------------------


async def test_each_size_of_vectors_is_searched_by_its_own_index(
    engine: PostgresEngine, postgres_server: Any, url: str
) -> None:
    for size in (16, 24):
        await fill(engine, cloud(2_500, size), base=f"size{size}")
    await postgres_server.run(f"ANALYZE {schema.SCHEMA}.entries", name_of(url))
    for size in (16, 24):
        shown = await plan(engine, scope(f"size{size}"), cloud(1, size, seed=9)[0])
        assert f"Index Scan using {hnsw.index_name(size)}" in shown
        assert "Sort" not in shown
    casts = {size: f"halfvec({size})" for size in (16, 24)}
    indexes = await postgres_server.run(
        f"SELECT indexdef FROM pg_indexes WHERE schemaname = '{schema.SCHEMA}' AND indexdef LIKE '%hnsw%' ORDER BY 1",
        name_of(url),
    )
    assert [[cast in index for cast in casts.values()] for (index,) in indexes] == [[True, False], [False, True]]


async def test_the_index_finds_what_is_nearest_and_filters_before_the_cut(url: str) -> None:
    engine = PostgresEngine(url, exact_rows=100)
    points = cloud(3_000, 16)
    await fill(engine, points)
    few = frozenset({"d3", "d7"})
    found = 0
    for query in cloud(10, 16, seed=5):
        cosine = points @ query
        best = np.argsort(-cosine)
        hits = await engine.search_vector(scope(), query, top_k=10, threshold=0.0)
        found += len({hit.chunk_id for hit in hits} & {f"base-{i:05}" for i in best[:10]})
        assert [hit.score for hit in hits] == pytest.approx(
            [float(cosine[int(h.chunk_id[5:])]) for h in hits], abs=1e-3
        )
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        narrow = await engine.search_vector(scope(document_ids=few), query, top_k=10, threshold=0.0)
        assert [hit.score for hit in narrow] == pytest.approx(
            [float(cosine[i]) for i in best if i % 50 in (3, 7)][:10], abs=1e-3
        )
    assert found >= 95, f"{found} of 100 nearest"
    await engine.close()


async def test_a_small_base_beside_a_large_one_gets_all_its_rows(url: str) -> None:
    """Also where the large one crowds around the question, and where pgvector can't go on scanning."""
    engine = PostgresEngine(url, exact_rows=0)
    await fill(engine, cloud(2_000, 8), base="large")
    far = -cloud(40, 8)
    await fill(engine, far, base="small")
    query = cloud(1, 8, seed=3)[0]
    wanted = sorted((far @ query).tolist(), reverse=True)[:30]
    for has_iterative_scan in (True, False):
        installed = engine._connections.installed
        engine._connections._installed = replace(installed, has_iterative_scan=has_iterative_scan)
        hits = await engine.search_vector(scope("small"), query, top_k=30, threshold=0.0)
        assert [hit.score for hit in hits] == pytest.approx(wanted, abs=1e-3)
    await engine.close()


@pytest.mark.parametrize(
    ("top_k", "wanted"), [(1, 100), (10, 100), (50, 100), (60, 120), (100, 200), (150, 200), (500, 500)]
)
def test_the_index_is_asked_for_twice_as_many_from_100_to_200(top_k: int, wanted: int) -> None:
    assert candidates(top_k) == wanted


async def test_the_threshold_leaves_out_what_is_farther(url: str) -> None:
    engine = PostgresEngine(url, exact_rows=0)
    points = cloud(1_200, 8)
    await fill(engine, points)
    query = points[17]
    hits = await engine.search_vector(scope(), query, top_k=50, threshold=0.95)
    assert hits[0].chunk_id == "base-00017"
    assert all(hit.score >= 0.95 - vector_arm.ROUNDING for hit in hits)
    assert len(hits) == min(50, int(np.count_nonzero(points @ query >= 0.95)))
    await engine.close()


async def test_very_long_vectors_are_searched_without_an_index_and_longer_ones_refused(
    engine: PostgresEngine, postgres_server: Any, url: str
) -> None:
    size = hnsw.MAX_INDEXED + 1
    await fill(engine, cloud(3, size))
    query = cloud(3, size)[2]
    hits = await engine.search_vector(scope(), query, top_k=1, threshold=0.0)
    assert hits[0].chunk_id == "base-00002"
    assert hits[0].score == pytest.approx(1.0, abs=1e-3)
    assert not await postgres_server.run("SELECT 1 FROM pg_indexes WHERE indexdef LIKE '%hnsw%'", name_of(url))
    with pytest.raises(InvalidInput):
        await engine.write(scope(), [row("x", vector=np.ones(hnsw.MAX_DIMENSION + 1))])


async def test_an_index_that_was_left_half_made_is_made_again(postgres_server: Any, url: str) -> None:
    engine = PostgresEngine(url)
    await fill(engine, cloud(20, 8))
    await engine.close()
    name = f"{schema.SCHEMA}.{hnsw.index_name(8)}"
    await postgres_server.run(
        f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{name}'::regclass", name_of(url)
    )
    again = PostgresEngine(url)
    await again.search_keyword(scope(), "слово", top_k=1)
    await again.settle()
    assert await again._connections.run(lambda connection: hnsw.has_index(connection, 8))
    await again.close()


# --- words ----------------------------------------------------------------------------------------------------------


async def test_words_are_ranked_as_by_the_engine_in_sqlite(engine: PostgresEngine, tmp_path: Path) -> None:
    """The same terms, the same formula, the same statistics: moving to the other engine changes no order."""
    rng = random.Random(7)
    words = ["налог", "ставка", "отпуск", "билет", "проезд", "чек", "KB-1234", "发票", "travel", "the"]
    rows = [
        row(
            f"c{i:03}",
            " ".join(rng.choices(words, weights=range(1, 11), k=rng.randint(1, 40))),
            base=rng.choice(["A", "B", "C"]),
            document=f"d{i % 5}",
        )
        for i in range(150)
    ]
    rows = [replace(one, enabled=rng.random() > 0.2) for one in rows]
    other = SqliteEngine(tmp_path / "index.db")
    for one in (engine, other):
        await one.write(scope("A", "B", "C"), rows)
    scopes = [scope("A"), scope("A", "C"), scope("A", "B", "C"), scope("B", document_ids=frozenset({"d1", "d2"}))]
    for where in scopes:
        for query in ("налог", "налоговая ставка налога", "the", "发票 KB-1234 travelling", "билет чек проезд отпуск"):
            mine, its = [await one.search_keyword(where, query, top_k=20) for one in (engine, other)]
            assert [hit.chunk_id for hit in mine] == [hit.chunk_id for hit in its]
            assert [hit.score for hit in mine] == pytest.approx([hit.score for hit in its], rel=1e-6)
    await other.close()


async def test_counts_of_a_base_are_those_of_its_rows(engine: PostgresEngine, postgres_server: Any, url: str) -> None:
    await engine.write(scope(), [row(f"c{i}", "слово " * (i + 1), document=f"d{i % 3}") for i in range(12)])
    await engine.write(scope(), [row("c1", "иначе"), row("c1", "ещё иначе"), row("c2", "слово " * 3, document="d2")])
    await engine.delete_chunks(scope(), "base", ["c3", "c4", "absent"])
    await engine.delete_documents(scope(), "base", ["d0", "absent"])
    await engine.copy_base(scope("base", "copy"), "base", "copy", {"c1": "x1", "c5": "x5"})
    await engine.copy_base(scope("base", "copy"), "base", "copy", {"c1": "x1", "c7": "x7"})
    counted = await postgres_server.run(
        f"SELECT b.base_id, b.entries, b.terms, count(e.id), sum(e.length) FROM {schema.SCHEMA}.bases AS b"
        f" JOIN {schema.SCHEMA}.entries AS e ON e.base = b.key GROUP BY b.key ORDER BY b.base_id",
        name_of(url),
    )
    assert [base for base, *_ in counted] == ["base", "copy"]
    for _, entries, terms, rows, lengths in counted:
        assert (entries, terms) == (rows, lengths)
    await engine.delete_base(scope(), "base")
    await engine.delete_base(scope("copy"), "copy")
    for table in ("bases", "entries", "texts"):
        assert not await postgres_server.run(f"SELECT 1 FROM {schema.SCHEMA}.{table}", name_of(url))


async def test_a_row_equal_to_what_is_stored_is_not_written_again(
    engine: PostgresEngine, postgres_server: Any, url: str
) -> None:
    same = row("a", "слово", [1.0, 2.0])
    await engine.write(scope(), [same])
    sizes = f"SELECT xmin::text FROM {schema.SCHEMA}.entries"
    before = await postgres_server.run(sizes, name_of(url))
    await engine.write(scope(), [same, row("a", "слово")])
    assert await postgres_server.run(sizes, name_of(url)) == before
    await engine.write(scope(), [row("a", "слово", [2.0, 1.0])])
    assert await postgres_server.run(sizes, name_of(url)) != before


async def test_words_of_another_version_are_made_again(
    url: str, postgres_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "TERMS_VERSION", "0/old")
    monkeypatch.setattr(write, "index_terms", lambda text: ["old"])
    monkeypatch.setattr(write, "REBUILD_ROWS", 2)
    old = PostgresEngine(url)
    await old.write(scope(), [row(f"c{i}", "налоговая ставка") for i in range(5)])
    assert await old.search_keyword(scope(), "ставки", top_k=5) == []
    generation = await old.generation()
    await old.close()
    monkeypatch.undo()
    new = PostgresEngine(url)
    assert len(await new.search_keyword(scope(), "ставки", top_k=9)) == 5
    assert await new.search_keyword(scope(), "old", top_k=9) == []
    assert await new.generation() == generation, "vectors are as they were"
    assert await postgres_server.run(f"SELECT terms FROM {schema.SCHEMA}.bases", name_of(url)) == [(10,)]
    await new.close()


# --- the schema -----------------------------------------------------------------------------------------------------


async def test_engines_that_start_at_once_make_the_schema_once(url: str) -> None:
    engines = [PostgresEngine(url) for _ in range(4)]
    generations = await asyncio.gather(*(engine.generation() for engine in engines))
    assert len(set(generations)) == 1
    for engine in engines:
        await engine.close()


async def test_a_dropped_schema_is_a_new_generation(url: str, postgres_server: Any) -> None:
    first = PostgresEngine(url)
    await first.write(scope(), [row("a")])
    before = await first.generation()
    await first.close()
    await postgres_server.run(f"DROP SCHEMA {schema.SCHEMA} CASCADE", name_of(url))
    second = PostgresEngine(url)
    assert await second.generation() != before
    assert await second.chunk_ids(scope(), "base") == set()
    await second.close()


async def test_an_index_of_a_newer_version_is_refused(url: str, postgres_server: Any) -> None:
    first = PostgresEngine(url)
    await first.generation()
    await first.close()
    await postgres_server.run(f"UPDATE {schema.SCHEMA}.meta SET value = '99' WHERE name = 'version'", name_of(url))
    second = PostgresEngine(url)
    with pytest.raises(EngineError, match="newer version"):
        await second.generation()
    await second.close()


async def test_an_index_without_full_text_gets_it_and_keeps_its_vectors(url: str, postgres_server: Any) -> None:
    first = PostgresEngine(url)
    await first.write(scope(), [row("a", "Налоговая ставка", [3, 4]), row("b", "员工手册", [1, 0])])
    before = await first.generation()
    await first.close()
    for statement in (
        f"ALTER TABLE {schema.SCHEMA}.texts DROP COLUMN content_tsv, DROP COLUMN words",
        f"UPDATE {schema.SCHEMA}.meta SET value = '1' WHERE name = 'version'",
    ):
        await postgres_server.run(statement, name_of(url))
    second = PostgresEngine(url)
    assert [hit.chunk_id for hit in await second.search_fulltext(scope(), "ставки", top_k=5)] == ["a"]
    assert [hit.chunk_id for hit in await second.search_fulltext(scope(), "手册", top_k=5)] == ["b"]
    assert [hit.chunk_id for hit in await second.search_keyword(scope(), "ставки", top_k=5)] == ["a"]
    assert await second.generation() == before
    assert (await second.vectors(scope(), "base", ["a"]))["a"] == pytest.approx([0.6, 0.8], abs=1e-3)
    assert await postgres_server.run(
        f"SELECT value FROM {schema.SCHEMA}.meta WHERE name = 'version'", name_of(url)
    ) == [(str(schema.SCHEMA_VERSION),)]
    await second.close()


# --- full text ------------------------------------------------------------------------------------------------------


async def test_full_text_is_searched_by_its_index(url: str, engine: PostgresEngine, postgres_server: Any) -> None:
    """With a filter and several bases too; the planner chooses it by itself."""
    rows = [row(f"c{n:04}", f"Страница {n}: " + " ".join(f"слово{n * 7 + k}" for k in range(12))) for n in range(3000)]
    await engine.write(scope(), rows)
    for table in ("texts", "entries"):
        await postgres_server.run(f"ANALYZE {schema.SCHEMA}.{table}", name_of(url))
    seen: list[str] = []

    async def plan(connection: Any) -> None:
        found = await fulltext.lexemes(connection, "Где слово707 и слово1401?")
        bases = await bases_of(connection, scope())
        for where in (scope(), scope(document_ids=frozenset({"d"}))):
            statement = fulltext.ranked(bases, where, found, top_k=20)
            seen.append(
                "\n".join(line for (line,) in await connection.fetch(f"EXPLAIN {statement.text}", *statement.values))
            )

    await engine._connections.run(plan)
    assert all("Bitmap Index Scan on texts_content_tsv" in one for one in seen), seen
    hits = await engine.search_fulltext(scope(), "Где слово707 и слово1401?", top_k=20)
    assert {"c0101", "c0200"} <= {hit.chunk_id for hit in hits}


async def test_the_column_is_generated_in_the_russian_configuration(url: str, postgres_server: Any) -> None:
    engine = PostgresEngine(url)
    await engine.write(scope(), [row("a", "Возмещают проезд employees")])
    await engine.close()
    made = "SELECT generation_expression FROM information_schema.columns WHERE column_name = 'content_tsv'"
    ((expression,),) = await postgres_server.run(made, name_of(url))
    assert expression == "to_tsvector('russian'::regconfig, words)"
    ((value,),) = await postgres_server.run(f"SELECT content_tsv::text FROM {schema.SCHEMA}.texts", name_of(url))
    assert value == "'employe':3 'возмеща':1 'проезд':2"


async def test_ranks_are_those_of_ts_rank_cd(engine: PostgresEngine) -> None:
    texts = {"both": "Возмещение проезда", "one": "Проезд и билет", "often": "Проезд: возмещение, проезд, проезд"}
    await engine.write(scope(), [row(name, text) for name, text in texts.items()])
    hits = await engine.search_fulltext(scope(), "возмещение проезда", top_k=5)
    assert [hit.chunk_id for hit in hits] == ["often", "both", "one"]
    assert {hit.kind for hit in hits} == {ScoreKind.TS_RANK}

    async def by_hand(connection: Any) -> dict[str, float]:
        asked = "to_tsquery('russian', 'возмещение | проезд')"
        rank = f"SELECT ts_rank_cd(to_tsvector('russian', lower($1)), {asked})"
        return {name: await connection.fetchval(rank, text) for name, text in texts.items()}

    assert {hit.chunk_id: hit.score for hit in hits} == pytest.approx(await engine._connections.run(by_hand))


@pytest.mark.parametrize("lexeme", ["a'b", "a\\b", "'", "\\", "a' | 'b", "a:*", "!a", "a & b"])
async def test_a_lexeme_is_never_syntax(engine: PostgresEngine, lexeme: str) -> None:
    async def read(connection: Any) -> Any:
        return await connection.fetchrow(
            "SELECT numnode(q) AS nodes, querytree(q) AS tree FROM (SELECT $1::text::tsquery AS q) AS asked",
            fulltext.any_lexeme([lexeme, "билет"]),
        )

    nodes, tree = await engine._connections.run(read)
    assert nodes == 3, tree


async def test_a_text_of_two_hundred_thousand_words_is_kept_and_searched(engine: PostgresEngine) -> None:
    await engine.write(scope(), [row("a", " ".join(f"w{n}" for n in range(200_000)))])
    assert [hit.chunk_id for hit in await engine.search_fulltext(scope(), "w77", top_k=1)] == ["a"]


async def test_types_of_pgvector_are_found_in_whatever_schema_they_are(url: str, postgres_server: Any) -> None:
    for statement in ('CREATE SCHEMA "Other types"', 'CREATE EXTENSION vector SCHEMA "Other types"'):
        await postgres_server.run(statement, name_of(url))
    engine = PostgresEngine(url)
    await fill(engine, cloud(5, 4))
    assert len(await engine.search_vector(scope(), cloud(1, 4)[0], top_k=9, threshold=0.0)) == 5
    await engine.close()


async def test_without_leave_to_install_pgvector_it_says_what_to_do(url: str, postgres_server: Any) -> None:
    role = f"nobody_{name_of(url)}"
    await postgres_server.run(f"CREATE ROLE {role} LOGIN")
    engine = PostgresEngine(url.replace("postgres@", f"{role}@"))
    with pytest.raises(EngineError) as told:
        await engine.generation()
    assert "CREATE EXTENSION vector" in told.value.hint
    await engine.close()


# --- servers --------------------------------------------------------------------------------------------------------


async def test_what_one_server_writes_another_finds(url: str) -> None:
    one, two = PostgresEngine(url), PostgresEngine(url)
    await one.write(scope(), [row("a", "налог", [1.0, 0.0])])
    assert [hit.chunk_id for hit in await two.search_keyword(scope(), "налоги", top_k=1)] == ["a"]
    await two.set_enabled(scope(), "base", {"a": False})
    assert await one.search_vector(scope(), np.array([1, 0], np.float32), top_k=1, threshold=0.0) == []
    await one.close()
    await two.close()


async def test_servers_that_write_the_same_bases_at_once_lose_nothing(url: str) -> None:
    engines = [PostgresEngine(url) for _ in range(3)]
    bases = ("A", "B")

    async def work(engine: PostgresEngine, number: int) -> None:
        order: Sequence[str] = bases if number % 2 else bases[::-1]
        for step in range(5):
            rows = [row(f"{number}-{step}-{i}", "слово", cloud(1, 4)[0], base=base) for base in order for i in range(4)]
            await engine.write(scope(*bases), rows)
            await engine.delete_chunks(scope(*bases), order[0], [f"{number}-{step}-0"])

    await asyncio.gather(*(work(engine, number) for number, engine in enumerate(engines)))
    held = [await engines[0].chunk_ids(scope(*bases), base) for base in bases]
    assert sum(map(len, held)) == 3 * 5 * 7
    for engine in engines:
        await engine.settle()
        await engine.close()


async def test_connections_that_the_server_closed_are_replaced(
    engine: PostgresEngine, postgres_server: Any, url: str
) -> None:
    await engine.write(scope(), [row("a")])
    await postgres_server.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        f" WHERE datname = '{name_of(url)}' AND pid <> pg_backend_pid()"
    )
    assert [hit.chunk_id for hit in await engine.search_keyword(scope(), "слово", top_k=1)] == ["a"]
    await engine.write(scope(), [row("b")])
    assert await engine.chunk_ids(scope(), "base") == {"a", "b"}


async def test_a_connection_out_of_step_with_its_server_is_given_up_and_the_call_made_again(
    engine: PostgresEngine,
) -> None:
    """As the driver says of one that was cut in the very moment of a call."""
    asked: list[int] = []

    async def work(connection: Any) -> list[int]:
        asked.append(await connection.fetchval("SELECT pg_backend_pid()"))
        if len(asked) == 1:
            raise asyncpg.InternalClientError("cannot switch to state 11; another operation (2) is in progress")
        return asked

    first, second = await engine._connections.run(work)
    assert first != second


async def test_a_server_that_is_away_raises_and_no_password_is_shown() -> None:
    engine = PostgresEngine(f"postgresql://opora:{SECRET}@127.0.0.1:{free_port()}/opora")
    with pytest.raises(EngineError) as told:
        await engine.search_keyword(scope(), "слово", top_k=1)
    assert told.value.hint
    assert SECRET not in f"{told.value} {told.value.hint}"
    await engine.close()


@pytest.mark.parametrize("address", ["postgresql://opora@127.0.0.1:1/opora?no_such_part=1", "no address"])
async def test_an_address_that_makes_no_sense_is_refused(address: str) -> None:
    async def use() -> None:
        engine = PostgresEngine(address)
        try:
            await engine.generation()
        finally:
            await engine.close()

    with pytest.raises(InvalidInput) as told:
        await use()
    assert told.value.details["field"] == "database_url"


async def test_closing_while_an_index_is_made_leaves_one_that_can_be_made_later(url: str) -> None:
    first = PostgresEngine(url)
    await first.write(scope(), [row(f"c{i}", "слово", v) for i, v in enumerate(cloud(200, 16))])
    await first.close()
    second = PostgresEngine(url)
    await fill(second, cloud(1, 16), base="more")
    assert await second._connections.run(lambda connection: hnsw.has_index(connection, 16))
    assert len(await second.search_vector(scope(), cloud(1, 16)[0], top_k=200, threshold=0.0)) == 200
    await second.close()
