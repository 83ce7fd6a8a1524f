"""One promise, whatever holds the graph: SQLite, PostgreSQL and a real Neo4j."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from opora.domain.errors import Unavailable
from opora.domain.graph import ChunkFacts, Facts, Relation
from opora.domain.knowledge import Chunk, Document, KnowledgeBase
from opora.domain.scope import BaseRef, Principal, Scope
from opora.graph.embedded import EmbeddedGraph
from opora.ports import EntityGraph
from opora.store.database import SqlDatabase

NOW = datetime(2026, 1, 2, tzinfo=UTC)
TENANT, STRANGER = "t1", "t2"


@dataclass
class Place:
    """A graph, and the documents that it is made from."""

    graph: EntityGraph
    database: SqlDatabase

    async def add(self, base_id: str, document_id: str, *facts: Facts, tenant: str = TENANT) -> None:
        scope = scope_of(base_id, tenant=tenant)
        async with self.database.begin() as stored:
            if not await stored.bases.find(tenant, [base_id]):
                await stored.bases.add(
                    KnowledgeBase(base_id=base_id, tenant_id=tenant, name=base_id, created_at=NOW, updated_at=NOW)
                )
            common = {"base_id": base_id, "tenant_id": tenant, "document_id": document_id}
            named = {"title": "t", "source": "s", "file_name": "t.txt", "file_type": "txt", "file_hash": document_id}
            document = Document(**common, **named, file_size=1, created_at=NOW, updated_at=NOW)
            await stored.documents.add(scope, document)
            rows = [
                Chunk(**common, chunk_id=f"{document_id}-{n}", chunk_index=n, content="text") for n in range(len(facts))
            ]
            await stored.chunks.put(scope, document, rows)
        await self.write(base_id, document_id, *facts, tenant=tenant)

    async def write(self, base_id: str, document_id: str, *facts: Facts, tenant: str = TENANT) -> None:
        chunks = [ChunkFacts(chunk_id=f"{document_id}-{n}", facts=one) for n, one in enumerate(facts)]
        await self.graph.replace_document(scope_of(base_id, tenant=tenant), base_id, document_id, chunks)

    async def found(self, *names: str, scope: Scope | None = None) -> list[str]:
        return list(await self.graph.chunk_ids(scope or scope_of("kb1"), names))


def scope_of(*base_ids: str, tenant: str = TENANT) -> Scope:
    refs = tuple(BaseRef(base_id=base_id, tenant_id=tenant) for base_id in base_ids)
    return Scope(principal=Principal(tenant_id=tenant, user_id="u"), bases=refs, include_disabled=True)


def names(*entities: str) -> Facts:
    return Facts(entities=entities)


def joined(source: str, target: str, label: str = "знает") -> Facts:
    return Facts(entities=(source, target), relations=(Relation(source=source, label=label, target=target),))


@pytest.fixture(params=["sqlite", "postgresql", "neo4j"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    url = f"sqlite+aiosqlite:///{tmp_path}/opora.db"
    if request.param == "postgresql":
        url = await request.getfixturevalue("postgres_server").create()
    database = await SqlDatabase(url).open()
    graph: EntityGraph = EmbeddedGraph(database)
    if request.param == "neo4j":
        from opora.graph.neo4j import Neo4jGraph

        graph = Neo4jGraph(request.getfixturevalue("neo4j_server").uri)
        for tenant, base_id in ((TENANT, "kb1"), (TENANT, "kb2"), (STRANGER, "kb9")):
            await graph.delete_base(scope_of(base_id, tenant=tenant), base_id)
    yield Place(graph, database)
    await graph.close()
    await database.close()


async def test_a_name_finds_its_chunks_in_any_form_of_its_words(place: Place) -> None:
    await place.add("kb1", "d1", names("договор аренды", "ООО «Ромашка»"), names("Annual Leave"), names("差旅报销"))
    for spelled, chunk_id in (
        ("Договора аренды", "d1-0"),
        ("ромашка", "d1-0"),
        ("ООО Ромашка", "d1-0"),
        ("annual leaves", "d1-1"),
        ("差旅报销", "d1-2"),
        ("报销", "d1-2"),
    ):
        assert await place.found(spelled) == [chunk_id], spelled
    for unknown in ("ромаш", "аренда помещений", "leave of absence", "报告", "%", "_", "' OR 1=1 //"):
        assert await place.found(unknown) == [], unknown


async def test_the_very_name_stands_in_the_way_of_those_that_hold_it(place: Place) -> None:
    await place.add("kb1", "d1", names("Ромашка"), names("ООО Ромашка"))
    assert await place.found("Ромашка") == ["d1-0"]


async def test_what_is_related_comes_after_what_is_named(place: Place) -> None:
    await place.add("kb1", "d1", joined("Ромашка", "Иванов"), names("Петров"))
    await place.add("kb1", "d2", names("Иванов"), joined("Иванов", "Сидоров"))
    assert await place.found("Ромашка") == ["d1-0", "d2-0", "d2-1"]
    assert await place.found("Иванов", "Сидоров") == ["d2-1", "d1-0", "d2-0"]
    assert await place.found("Ромашка", "Петров") == ["d1-0", "d1-1", "d2-0", "d2-1"]


async def test_written_twice_is_written_once_and_a_new_text_leaves_nothing_of_the_old_one(place: Place) -> None:
    await place.add("kb1", "d1", joined("Ромашка", "Иванов"), names("Петров"))
    await place.write("kb1", "d1", joined("Ромашка", "Иванов"), names("Петров"))
    assert await place.found("Ромашка") == ["d1-0"]
    await place.write("kb1", "d1", names("Сидоров"))
    assert await place.found("Ромашка") == []
    assert await place.found("Петров", "Сидоров") == ["d1-0"]


async def test_other_bases_tenants_and_documents_are_not_seen(place: Place) -> None:
    await place.add("kb1", "d1", joined("Ромашка", "Иванов"))
    await place.add("kb1", "d2", joined("Ромашка", "Иванов"))
    await place.add("kb2", "d3", names("Ромашка", "Иванов"))
    await place.add("kb9", "d9", names("Ромашка", "Иванов"), tenant=STRANGER)
    assert await place.found("Ромашка") == ["d1-0", "d2-0"]
    assert await place.found("Ромашка", scope=scope_of("kb1", "kb2")) == ["d1-0", "d2-0", "d3-0"]
    assert await place.found("Ромашка", scope=scope_of("kb9")) == []
    assert await place.found("Ромашка", scope=scope_of("kb1", tenant=STRANGER)) == []
    assert await place.found("Ромашка", scope=replace(scope_of("kb1"), document_ids=frozenset({"d2"}))) == ["d2-0"]
    assert await place.found("Ромашка", scope=replace(scope_of("kb1"), bases=())) == []


async def test_documents_and_bases_go_with_all_that_is_known_of_them(place: Place) -> None:
    await place.add("kb1", "d1", names("Ромашка"))
    await place.add("kb1", "d2", names("Ромашка"))
    await place.add("kb2", "d3", names("Ромашка"))
    await remove(place, "kb1", "d1")
    await remove(place, "kb1", "never there")
    assert await place.found("Ромашка", scope=scope_of("kb1", "kb2")) == ["d2-0", "d3-0"]
    await place.graph.delete_base(scope_of("kb1"), "kb1")
    async with place.database.begin() as stored:
        await stored.bases.delete(scope_of("kb1"), "kb1")
    assert await place.found("Ромашка", scope=scope_of("kb1", "kb2")) == ["d3-0"]


async def remove(place: Place, base_id: str, document_id: str) -> None:
    """As the queue does it."""
    await place.graph.delete_documents(scope_of(base_id), base_id, {document_id})
    async with place.database.begin() as stored:
        await stored.documents.delete(scope_of(base_id), document_id)


async def test_a_graph_that_is_down_is_unavailable_and_never_empty(neo4j_server: Any) -> None:
    from opora.graph.neo4j import Neo4jGraph

    graph = Neo4jGraph(neo4j_server.uri)
    assert neo4j_server.uri in await graph.check()
    neo4j_server.stop()
    try:
        for call in (
            graph.chunk_ids(scope_of("kb1"), ["Ромашка"]),
            graph.replace_document(scope_of("kb1"), "kb1", "d1", []),
            graph.delete_documents(scope_of("kb1"), "kb1", {"d1"}),
            graph.check(),
        ):
            with pytest.raises(Unavailable, match="graph"):
                await call
    finally:
        neo4j_server.start()
    assert await graph.chunk_ids(scope_of("kb1"), ["Ромашка"]) == []
    await graph.close()
