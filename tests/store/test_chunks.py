"""Chunks: replaced whole, marked when embedded, hydrated for search; every reading limited by scope."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from opora.domain.errors import NotFound
from opora.domain.knowledge import Box, Chunk, ChunkType, Document, KnowledgeBase, ParseStatus, Place
from opora.domain.scope import Scope
from opora.ports import Page
from opora.store.database import SqlDatabase
from opora.store.hydrate import _portable, _to_result

ALL = Page(page_size=100)
PLACE = Place(start=3, end=9, page=2, boxes=(Box(page=2, x0=1.0, y0=2.0, x1=3.0, y1=4.5),), heading_path=("Глава", "1"))


@pytest.fixture
async def filled(
    database: SqlDatabase,
    scope_of: Callable[..., Scope],
    base_of: Callable[..., KnowledgeBase],
    document_of: Callable[..., Document],
) -> SqlDatabase:
    async with database.begin() as stored:
        await stored.bases.add(base_of("kb-1"))
        await stored.bases.add(base_of("kb-2"))
        await stored.documents.add(scope_of("kb-1"), document_of("d-1", title="Заголовок", source="/a"))
        await stored.documents.add(scope_of("kb-1"), document_of("d-2"))
    return database


async def test_chunks_come_back_in_order(
    filled: SqlDatabase,
    scope_of: Callable[..., Scope],
    document_of: Callable[..., Document],
    chunk_of: Callable[..., Chunk],
) -> None:
    chunks = [
        chunk_of("b", chunk_index=0, place=PLACE, context="Глава > 1", metadata={"a": 1}, tag_ids=("x",)),
        chunk_of("a", chunk_index=1, chunk_type=ChunkType.PARENT_TEXT),
    ]
    async with filled.begin() as stored:
        assert await stored.chunks.replace_document(scope_of("kb-1"), document_of(), chunks) == set()
        assert list((await stored.chunks.browse(scope_of("kb-1"), "d-1", ALL)).items) == chunks
        assert await stored.chunks.ids(scope_of("kb-1")) == {"b"}
        assert await stored.chunks.owner("default", "b") == ("kb-1", "d-1")
        with pytest.raises(NotFound):
            await stored.chunks.owner("other", "b")


async def test_replacing_keeps_marks_and_switches_of_what_stays(
    filled: SqlDatabase,
    scope_of: Callable[..., Scope],
    document_of: Callable[..., Document],
    chunk_of: Callable[..., Chunk],
) -> None:
    scope, document = scope_of("kb-1"), document_of()
    whole = replace(scope, include_disabled=True)
    async with filled.begin() as stored:
        await stored.chunks.replace_document(scope, document, [chunk_of("a"), chunk_of("b", chunk_index=1)])
        await stored.chunks.mark_embedded(scope, ["a", "b"], "model")
        await stored.chunks.update(scope, chunk_of("a", enabled=False))
        gone = await stored.chunks.replace_document(scope, document, [chunk_of("c"), chunk_of("a", chunk_index=1)])
        assert gone == {"b"}
        kept = (await stored.chunks.get_many(whole, ["a"]))["a"]
        assert (kept.enabled, kept.chunk_index) == (False, 1)
        left = await stored.chunks.without_vector(whole, "d-1", "model", limit=9)
        assert [chunk.chunk_id for chunk in left] == ["c"]
        assert await stored.chunks.count_unembedded(whole, "d-1", "model") == 1
        assert await stored.chunks.count_unembedded(whole, "d-1", "another") == 2
        assert await stored.chunks.models(whole) == {"model"}


async def test_vectors_of_another_model_count_as_missing(
    filled: SqlDatabase,
    scope_of: Callable[..., Scope],
    document_of: Callable[..., Document],
    chunk_of: Callable[..., Chunk],
) -> None:
    scope = scope_of("kb-1")
    async with filled.begin() as stored:
        await stored.chunks.replace_document(
            scope, document_of(), [chunk_of(name, chunk_index=index) for index, name in enumerate("abc")]
        )
        await stored.documents.update(scope, document_of(chunk_count=3))
        await stored.chunks.mark_embedded(scope, ["a", "b"], "old")
        left = await stored.chunks.without_vector(scope, "d-1", "new", limit=9)
        assert [chunk.chunk_id for chunk in left] == ["c"], "what has no vector at all comes first"
        await stored.chunks.mark_embedded(scope, ["c"], "new")
        left = await stored.chunks.without_vector(scope, "d-1", "new", limit=1)
        assert [chunk.chunk_id for chunk in left] == ["a"]
        await stored.chunks.recount(scope, "new")
        assert (await stored.documents.get(scope, "d-1")).embedded_count == 1
        assert await stored.documents.count_unembedded(scope) == 1
        await stored.chunks.forget_vectors()
        assert await stored.chunks.count_unembedded(scope, "d-1", "new") == 3
        assert (await stored.documents.get(scope, "d-1")).embedded_count == 0


@pytest.fixture
async def three(
    filled: SqlDatabase,
    scope_of: Callable[..., Scope],
    document_of: Callable[..., Document],
    chunk_of: Callable[..., Chunk],
) -> SqlDatabase:
    async with filled.begin() as stored:
        scope = scope_of("kb-1")
        chunks = [chunk_of("a", place=PLACE, tag_ids=("x", "y"), metadata={"k": "v"}), chunk_of("off", enabled=False)]
        await stored.chunks.replace_document(scope, document_of("d-1"), chunks)
        await stored.chunks.replace_document(scope, document_of("d-2"), [chunk_of("b", document_id="d-2")])
    return filled


IDS = ["a", "off", "b", "none"]


@pytest.mark.parametrize(
    ("bases", "limits", "found"),
    [
        (("kb-1",), {}, {"a", "b"}),
        (("kb-1", "kb-2"), {}, {"a", "b"}),
        (("kb-2",), {}, set()),
        ((), {}, set()),
        (("kb-1",), {"include_disabled": True}, {"a", "off", "b"}),
        (("kb-1",), {"document_ids": frozenset({"d-2"})}, {"b"}),
        (("kb-1",), {"document_ids": frozenset()}, set()),
        (("kb-1",), {"tag_ids": frozenset({"y", "z"})}, {"a"}),
        (("kb-1",), {"tag_ids": frozenset({"Y"})}, set()),
        (("kb-1",), {"tag_ids": frozenset()}, set()),
        (("kb-1",), {"tenant_id": "other"}, set()),
    ],
)
async def test_reading_keeps_to_the_scope(
    three: SqlDatabase,
    scope_of: Callable[..., Scope],
    bases: tuple[str, ...],
    limits: dict[str, object],
    found: set[str],
) -> None:
    scope = scope_of(*bases, **limits)
    async with three._transaction(writes=False) as connection:
        portable = await _portable(connection, scope, IDS)
    assert {row[0] for row in portable} == found
    async with three.read() as stored:
        assert set(await stored.chunks.hydrate(scope, IDS)) == found
        assert set(await stored.chunks.get_many(scope, IDS)) == found
        assert await stored.chunks.ids(scope) == found
        listed = [
            *(await stored.chunks.browse(scope, "d-1", ALL)).items,
            *(await stored.chunks.browse(scope, "d-2", ALL)).items,
        ]
        assert {chunk.chunk_id for chunk in listed} == found
        assert len(await stored.chunks.without_vector(scope, "d-1", "m", limit=9)) == len(found - {"b"})


async def test_a_foreign_scope_changes_nothing(
    three: SqlDatabase, scope_of: Callable[..., Scope], chunk_of: Callable[..., Chunk]
) -> None:
    stranger, mine = scope_of("kb-1", tenant_id="other"), scope_of("kb-1")
    async with three.begin() as stored:
        await stored.chunks.mark_embedded(stranger, ["a"], "m")
        await stored.chunks.delete(stranger, ["a"])
        with pytest.raises(NotFound):
            await stored.chunks.update(stranger, chunk_of("a", content="stolen"))
        assert await stored.chunks.count_unembedded(mine, "d-1", "m") == 1
        await stored.chunks.delete(mine, ["a"])
        assert await stored.chunks.ids(mine) == {"b"}


async def test_search_gets_text_and_title(three: SqlDatabase, scope_of: Callable[..., Scope]) -> None:
    scope = scope_of("kb-1")
    async with three.read() as stored:
        result = (await stored.chunks.hydrate(scope, ["a"]))["a"]
    assert (result.content, result.title, result.file_name, result.source) == (
        "text of a",
        "Заголовок",
        "d-1.txt",
        "/a",
    )
    assert (result.place, result.metadata, result.tenant_id) == (PLACE, {"k": "v"}, "default")
    async with three._transaction(writes=False) as connection:
        assert [_to_result(row, scope) for row in await _portable(connection, scope, ["a"])] == [result]


@pytest.mark.parametrize("change", [{"parse_status": ParseStatus.DELETING}, {"enabled": False}])
async def test_search_drops_what_is_deleted_or_switched_off(
    three: SqlDatabase,
    scope_of: Callable[..., Scope],
    document_of: Callable[..., Document],
    change: dict[str, object],
) -> None:
    scope = scope_of("kb-1")
    async with three.begin() as stored:
        await stored.documents.update(scope, document_of("d-1", **change))
    async with three._transaction(writes=False) as connection:
        assert {row[0] for row in await _portable(connection, scope, IDS)} == {"b"}
    async with three.read() as stored:
        assert set(await stored.chunks.hydrate(scope, IDS)) == {"b"}


async def test_strays_are_noted_until_they_are_taken_out(
    three: SqlDatabase, scope_of: Callable[..., Scope], document_of: Callable[..., Document]
) -> None:
    scope = scope_of("kb-1")
    async with three.begin() as stored:
        await stored.chunks.add_strays(scope, document_of("d-1"), ["a", "gone"])
        await stored.chunks.add_strays(scope, document_of("d-1"), ["gone"])
        assert await stored.chunks.strays(scope, "d-1") == {"gone"}, "what the database holds is no stray"
        assert await stored.chunks.strays(scope_of("kb-1", tenant_id="other"), "d-1") == set()
        await stored.chunks.forget_strays(scope, "d-1", await stored.chunks.strays(scope, "d-1"))
        assert await stored.chunks.strays(scope, "d-1") == set()


async def test_a_document_takes_its_chunks_along(three: SqlDatabase, scope_of: Callable[..., Scope]) -> None:
    scope = scope_of("kb-1", include_disabled=True)
    async with three.begin() as stored:
        await stored.documents.delete(scope, "d-1")
        await stored.documents.delete(scope, "d-1")
        assert await stored.chunks.ids(scope) == {"b"}


async def test_chunks_of_two_documents_never_mix(
    three: SqlDatabase,
    scope_of: Callable[..., Scope],
    document_of: Callable[..., Document],
    chunk_of: Callable[..., Chunk],
) -> None:
    scope = scope_of("kb-1")
    async with three.begin() as stored:
        with pytest.raises(ValueError, match="another document"):
            await stored.chunks.replace_document(scope, document_of("d-1"), [chunk_of("c", document_id="d-2")])
        await stored.chunks.replace_document(scope, document_of("d-1"), [chunk_of("b", content="stolen")])
        assert (await stored.chunks.get_many(scope, ["b"]))["b"].content == "text of b"
