"""The graph in Neo4j, for bases that are too large for a search by name in the relational database.

An entity is a node for each document that speaks of it, so that a document is replaced and taken out by itself; nodes
of one name belong together by their key. Values travel as parameters, and never become a part of a query's text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import neo4j
from neo4j.exceptions import DriverError, Neo4jError

from opora.domain.errors import Unavailable
from opora.domain.graph import ChunkFacts
from opora.domain.scope import Scope
from opora.graph.walk import Mention, related_chunks
from opora.text.terms import is_unspaced, name_key

SECONDS = 10.0
"""To connect, and to wait for a free connection; a search may take as long again."""
WRITE_STEP = 1_000
"""Nodes or relations in one statement."""

_CREATE_INDEX = (
    "CREATE INDEX opora_entity_key IF NOT EXISTS FOR (e:OporaEntity) ON (e.base_id, e.key)",
    "CREATE INDEX opora_entity_document IF NOT EXISTS FOR (e:OporaEntity) ON (e.base_id, e.document_id)",
)
_IN_SCOPE = (
    "e.base_id IN $base_ids AND [e.base_id, e.tenant_id] IN $bases "
    "AND ($document_ids IS NULL OR e.document_id IN $document_ids)"
)
_EXACT = (
    f"MATCH (e:OporaEntity) WHERE {_IN_SCOPE} AND e.key = $key RETURN DISTINCT e.key AS key ORDER BY key LIMIT $limit"
)
_INSIDE = (
    f"MATCH (e:OporaEntity) WHERE {_IN_SCOPE} AND (' ' + e.key + ' ') CONTAINS $words "
    "RETURN DISTINCT e.key AS key ORDER BY key LIMIT $limit"
)
_MENTIONS = (
    f"MATCH (e:OporaEntity) WHERE {_IN_SCOPE} AND e.key IN $keys UNWIND e.chunk_ids AS chunk_id "
    "RETURN e.key AS key, chunk_id ORDER BY key, chunk_id LIMIT $limit"
)
_RELATED = (
    f"MATCH (e:OporaEntity)-[:RELATED_TO]-(other:OporaEntity) WHERE {_IN_SCOPE} AND e.key IN $keys "
    "RETURN DISTINCT other.key AS key ORDER BY key LIMIT $limit"
)
_OF_DOCUMENTS = "MATCH (e:OporaEntity) WHERE e.base_id = $base_id AND e.document_id IN $document_ids DETACH DELETE e"
_OF_BASE = "MATCH (e:OporaEntity) WHERE e.base_id = $base_id DETACH DELETE e"
_ADD_ENTITIES = (
    "UNWIND $rows AS row CREATE (e:OporaEntity {tenant_id: $tenant_id, base_id: $base_id, document_id: $document_id, "
    "key: row.key, name: row.name, chunk_ids: row.chunk_ids})"
)
_ADD_RELATIONS = (
    "UNWIND $rows AS row "
    "MATCH (a:OporaEntity {base_id: $base_id, document_id: $document_id, key: row.source}) "
    "MATCH (b:OporaEntity {base_id: $base_id, document_id: $document_id, key: row.target}) "
    "CREATE (a)-[:RELATED_TO {label: row.label, chunk_ids: row.chunk_ids}]->(b)"
)


class Neo4jGraph:
    """Implements `opora.ports.EntityGraph`. Connects when it is first used; ``database`` '' is the server's own."""

    def __init__(self, uri: str, *, username: str = "", password: str = "", database: str = "") -> None:
        self._uri = uri
        self._database = database or None
        self._driver = neo4j.AsyncGraphDatabase.driver(
            uri,
            auth=(username, password) if username else None,
            connection_timeout=SECONDS,
            connection_acquisition_timeout=SECONDS,
            max_transaction_retry_time=SECONDS,
            telemetry_disabled=True,
            # An empty graph has no properties yet: that is no news.
            notifications_min_severity=neo4j.NotificationMinimumSeverity.OFF,
        )
        self._is_indexed = False

    async def chunk_ids(self, scope: Scope, entities: Sequence[str]) -> list[str]:
        return await related_chunks(self, scope, entities) if scope.bases else []

    async def seeds(self, scope: Scope, key: str, *, limit: int) -> list[str]:
        exact = await self._read(_EXACT, scope, key=key, limit=limit)
        words = key if is_unspaced(key) else f" {key} "
        rows = exact or await self._read(_INSIDE, scope, words=words, limit=limit)
        return [row["key"] for row in rows]

    async def mentions(self, scope: Scope, keys: Collection[str], *, limit: int) -> list[Mention]:
        rows = await self._read(_MENTIONS, scope, keys=sorted(keys), limit=limit)
        return [(row["key"], row["chunk_id"]) for row in rows]

    async def related(self, scope: Scope, keys: Collection[str], *, limit: int) -> list[str]:
        return [row["key"] for row in await self._read(_RELATED, scope, keys=sorted(keys), limit=limit)]

    async def replace_document(
        self, scope: Scope, base_id: str, document_id: str, chunks: Sequence[ChunkFacts]
    ) -> None:
        """In one transaction: a search sees what was there or what is there now."""
        place: dict[str, Any] = {"tenant_id": scope.owner_of(base_id), "base_id": base_id, "document_id": document_id}
        entities, relations = _nodes(chunks), _edges(chunks)

        async def write(work: neo4j.AsyncManagedTransaction) -> None:
            await (await work.run(_OF_DOCUMENTS, base_id=base_id, document_ids=[document_id])).consume()
            for query, rows in ((_ADD_ENTITIES, entities), (_ADD_RELATIONS, relations)):
                for start in range(0, len(rows), WRITE_STEP):
                    await (await work.run(query, rows=rows[start : start + WRITE_STEP], **place)).consume()

        await self._index()
        with _wrapped(self._uri):
            async with self._driver.session(database=self._database) as session:
                await session.execute_write(write)

    async def delete_documents(self, scope: Scope, base_id: str, document_ids: Collection[str]) -> None:
        scope.owner_of(base_id)
        await self._run(_OF_DOCUMENTS, base_id=base_id, document_ids=sorted(document_ids))

    async def delete_base(self, scope: Scope, base_id: str) -> None:
        scope.owner_of(base_id)
        await self._run(_OF_BASE, base_id=base_id)

    async def check(self) -> str:
        with _wrapped(self._uri):
            await self._driver.verify_connectivity()
        return f"Neo4j at {self._uri}"

    async def close(self) -> None:
        await self._driver.close()

    async def _index(self) -> None:
        if not self._is_indexed:
            for query in _CREATE_INDEX:
                await self._run(query)
            self._is_indexed = True

    async def _read(self, query: str, scope: Scope, **values: Any) -> list[dict[str, Any]]:
        within = {
            "base_ids": [base.base_id for base in scope.bases],
            "bases": [[base.base_id, base.tenant_id] for base in scope.bases],
            "document_ids": None if scope.document_ids is None else sorted(scope.document_ids),
        }
        return await self._run(query, routing=neo4j.RoutingControl.READ, **within, **values)

    async def _run(
        self, query: str, *, routing: neo4j.RoutingControl = neo4j.RoutingControl.WRITE, **values: Any
    ) -> list[dict[str, Any]]:
        with _wrapped(self._uri):
            found = await self._driver.execute_query(
                neo4j.Query(query, timeout=SECONDS),
                values,
                database_=self._database,
                routing_=routing,
            )
        return [record.data() for record in found.records]


def _nodes(chunks: Sequence[ChunkFacts]) -> list[dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for one in chunks:
        for name in one.facts.entities:
            key = name_key(name)
            row = rows.setdefault(key, {"key": key, "name": name, "chunk_ids": []})
            if one.chunk_id not in row["chunk_ids"]:
                row["chunk_ids"].append(one.chunk_id)
    return list(rows.values())


def _edges(chunks: Sequence[ChunkFacts]) -> list[dict[str, Any]]:
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for one in chunks:
        for relation in one.facts.relations:
            ends = name_key(relation.source), name_key(relation.target)
            row = {"source": ends[0], "target": ends[1], "label": relation.label, "chunk_ids": []}
            rows.setdefault((*ends, relation.label), row)["chunk_ids"].append(one.chunk_id)
    return list(rows.values())


@contextmanager
def _wrapped(uri: str) -> Iterator[None]:
    try:
        yield
    except (DriverError, Neo4jError, OSError) as error:
        raise Unavailable(
            f"The graph at {uri} can't be asked: {error}",
            hint="Look whether Neo4j runs there, and at NEO4J_USERNAME and NEO4J_PASSWORD.",
        ) from error
