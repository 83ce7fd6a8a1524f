"""The graph of entities in the relational store: names and relations of chunks, found by the stems of their words.

Which rows a search may see is decided by their chunks; a chunk that goes takes its rows along.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import sqlalchemy as sa

from opora.domain.graph import ChunkFacts
from opora.domain.scope import Scope
from opora.store.connection import Connection
from opora.store.scoping import IN_STEP, among, of_chunks
from opora.store.tables import chunks, graph_entities, graph_relations
from opora.store.types import position
from opora.text.terms import is_unspaced, name_key

_e = graph_entities.c
_r = graph_relations.c
_BLANK = sa.literal(" ")


class SqlGraph:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def replace(self, scope: Scope, document_id: str, facts: Sequence[ChunkFacts]) -> None:
        """Hold these facts of the document and no others; chunks that are gone by now are left out."""
        own = sa.select(chunks.c.chunk_id).where(of_chunks(scope), chunks.c.document_id == document_id)
        there = set(await self._connection.scalars(own))
        for table in (graph_entities, graph_relations):
            await self._connection.execute(sa.delete(table).where(among(table.c.chunk_id, there)))
        entities: dict[tuple[str, str], dict[str, str]] = {}
        relations: dict[tuple[str, str, str], dict[str, str]] = {}
        for one in facts:
            if one.chunk_id not in there:
                continue
            for name in one.facts.entities:
                key = name_key(name)
                entities[one.chunk_id, key] = {"chunk_id": one.chunk_id, "key": key, "name": name}
            for relation in one.facts.relations:
                source, target = name_key(relation.source), name_key(relation.target)
                row = {"chunk_id": one.chunk_id, "source_key": source, "target_key": target, "label": relation.label}
                relations.setdefault((one.chunk_id, source, target), row)
        await self._insert(graph_entities, list(entities.values()))
        await self._insert(graph_relations, list(relations.values()))

    async def seeds(self, scope: Scope, key: str, *, limit: int) -> list[str]:
        exact = await self._keys(scope, _e.key == key, limit)
        if exact:
            return exact
        # Words begin and end at blanks; scripts without blanks may hold the name anywhere.
        words = key if is_unspaced(key) else f" {key} "
        return await self._keys(scope, position(_BLANK + _e.key + _BLANK, words) > 0, limit)

    async def mentions(self, scope: Scope, keys: Collection[str], *, limit: int) -> list[tuple[str, str]]:
        query = (
            sa.select(_e.key, _e.chunk_id)
            .join(chunks, chunks.c.chunk_id == _e.chunk_id)
            .where(of_chunks(scope), among(_e.key, keys))
            .order_by(_e.key, _e.chunk_id)
            .limit(limit)
        )
        return [(row.key, row.chunk_id) for row in await self._connection.execute(query)]

    async def related(self, scope: Scope, keys: Collection[str], *, limit: int) -> list[str]:
        ends = [
            sa.select(theirs.label("key"))
            .join(chunks, chunks.c.chunk_id == _r.chunk_id)
            .where(of_chunks(scope), among(ours, keys))
            for ours, theirs in ((_r.source_key, _r.target_key), (_r.target_key, _r.source_key))
        ]
        both = sa.union(*ends).subquery()
        return list(await self._connection.scalars(sa.select(both.c.key).order_by(both.c.key).limit(limit)))

    async def _keys(self, scope: Scope, condition: sa.ColumnElement[bool], limit: int) -> list[str]:
        query = (
            sa.select(_e.key)
            .distinct()
            .join(chunks, chunks.c.chunk_id == _e.chunk_id)
            .where(of_chunks(scope), condition)
            .order_by(_e.key)
            .limit(limit)
        )
        return list(await self._connection.scalars(query))

    async def _insert(self, table: sa.Table, rows: list[dict[str, str]]) -> None:
        for start in range(0, len(rows), IN_STEP):
            await self._connection.execute(sa.insert(table), rows[start : start + IN_STEP])
