"""The engine in PostgreSQL: vectors of half precision by pgvector, words by BM25, one index for all servers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import uuid4

import asyncpg
import numpy as np

from opora.domain.errors import EngineError, Forbidden, InvalidInput
from opora.domain.scope import Scope
from opora.domain.search import Capability, EngineHit, IndexRow
from opora.engines.postgres import fulltext, hnsw, keyword, schema, write
from opora.engines.postgres.connections import Connections
from opora.engines.postgres.vector import EXACT_ROWS, read_vectors
from opora.engines.postgres.vector import search as search_by_vector
from opora.engines.postgres.visible import bases_of
from opora.engines.postgres.write import Stored
from opora.engines.vectors import unit_bytes, unit_query
from opora.ports import NewId, Vectors
from opora.text.fold import clean

log = logging.getLogger(__name__)

HNSW_LINKS = 2 * 16 * 6
"""Bytes of a row's links in the lowest layer of its index, at pgvector's default of 16 neighbours."""


def _random_id() -> str:
    return uuid4().hex


class PostgresEngine:
    """A `SearchEngine` in a schema of its own of a PostgreSQL database, opened at the first call."""

    name = "postgres"
    capabilities = frozenset(
        {
            Capability.VECTOR,
            Capability.KEYWORD,
            Capability.KEYWORD_SCORES,
            Capability.NEGATIVE_COSINE,
            Capability.STEMMING,
            Capability.FULLTEXT,
            Capability.STORED_VECTORS,
        }
    )

    def __init__(self, address: str, *, exact_rows: int = EXACT_ROWS, new_id: NewId = _random_id) -> None:
        self._connections = Connections(address, new_id=new_id)
        self._exact_rows = exact_rows
        self._indexed: set[int] = set()
        self._building: dict[int, asyncio.Task[None]] = {}
        self._checking = asyncio.Lock()
        self._is_checked = False

    async def write(self, scope: Scope, rows: Sequence[IndexRow]) -> None:
        """All rows are written or none; raises before anything is written when one row does not fit."""
        stored = await asyncio.to_thread(_by_base, scope, rows)

        async def work(connection: Any) -> None:
            for (tenant_id, base_id), of_base in sorted(stored.items()):
                await write.upsert(connection, await write.make_base(connection, tenant_id, base_id), of_base)

        if stored:
            await self._check()
            await self._connections.transact(work)
            self._index({row.dimension for row in rows if row.vector is not None})

    async def search_vector(self, scope: Scope, vector: Vectors, *, top_k: int, threshold: float) -> list[EngineHit]:
        query = unit_query(vector)
        _check_top_k(top_k)
        await self._check()

        async def work(connection: Any) -> list[EngineHit]:
            return await search_by_vector(
                connection,
                await bases_of(connection, scope),
                scope,
                query,
                top_k=top_k,
                threshold=threshold,
                has_iterative_scan=self._connections.installed.has_iterative_scan,
                exact_rows=self._exact_rows,
            )

        return await self._connections.run(work)

    async def search_keyword(self, scope: Scope, query: str, *, top_k: int) -> list[EngineHit]:
        _check_top_k(top_k)
        await self._check()

        async def work(connection: Any) -> list[EngineHit]:
            return await keyword.search(connection, await bases_of(connection, scope), scope, query, top_k=top_k)

        return await self._connections.run(work)

    async def search_fulltext(self, scope: Scope, query: str, *, top_k: int) -> list[EngineHit]:
        _check_top_k(top_k)
        await self._check()

        async def work(connection: Any) -> list[EngineHit]:
            return await fulltext.search(connection, await bases_of(connection, scope), scope, query, top_k=top_k)

        return await self._connections.run(work)

    async def delete_chunks(self, scope: Scope, base_id: str, chunk_ids: Collection[str]) -> None:
        await self._change(scope, base_id, partial(write.delete_chunks, chunk_ids=chunk_ids))

    async def delete_documents(self, scope: Scope, base_id: str, document_ids: Collection[str]) -> None:
        await self._change(scope, base_id, partial(write.delete_documents, document_ids=document_ids))

    async def delete_base(self, scope: Scope, base_id: str) -> None:
        await self._change(scope, base_id, write.delete_base)

    async def set_enabled(self, scope: Scope, base_id: str, enabled: Mapping[str, bool]) -> None:
        await self._change(scope, base_id, partial(write.set_enabled, enabled=enabled))

    async def set_tags(self, scope: Scope, base_id: str, tags: Mapping[str, Sequence[str]]) -> None:
        await self._change(scope, base_id, partial(write.set_tags, tags=tags))

    async def copy_base(
        self,
        scope: Scope,
        source_id: str,
        target_id: str,
        chunk_ids: Mapping[str, str],
        *,
        document_ids: Mapping[str, str] | None = None,
    ) -> None:
        source_tenant, target_tenant = scope.owner_of(source_id), scope.owner_of(target_id)

        async def work(connection: Any) -> None:
            source = await connection.fetchval(
                "SELECT key FROM bases WHERE tenant_id = $1 AND base_id = $2", source_tenant, source_id
            )
            if source is not None:
                target = await write.make_base(connection, target_tenant, target_id)
                await write.copy_base(connection, source, target, chunk_ids, document_ids or {})

        await self._check()
        await self._connections.transact(work)

    async def chunk_ids(self, scope: Scope, base_id: str, *, with_vector: bool = False) -> set[str]:
        tenant_id = scope.owner_of(base_id)
        also = "AND e.embedding IS NOT NULL" if with_vector else ""

        async def work(connection: Any) -> set[str]:
            rows = await connection.fetch(
                "SELECT e.chunk_id FROM entries AS e JOIN bases AS b ON b.key = e.base"
                f" WHERE b.tenant_id = $1 AND b.base_id = $2 {also}",
                tenant_id,
                base_id,
            )
            return {chunk_id for (chunk_id,) in rows}

        return await self._connections.run(work)

    async def vectors(self, scope: Scope, base_id: str, chunk_ids: Collection[str]) -> dict[str, Vectors]:
        tenant_id = scope.owner_of(base_id)

        async def work(connection: Any) -> dict[str, Vectors]:
            return await read_vectors(connection, tenant_id, base_id, chunk_ids)

        return await self._connections.run(work)

    async def storage_bytes(self, scope: Scope, base_id: str) -> int:
        """What the base's rows and texts take, and its vectors a second time in their index, without the page's own."""
        tenant_id = scope.owner_of(base_id)

        async def work(connection: Any) -> int:
            size = await connection.fetchval(
                "SELECT sum(pg_column_size(e.*) + pg_column_size(t.text)"
                f" + coalesce(pg_column_size(e.embedding) + {HNSW_LINKS}, 0))"
                " FROM entries AS e JOIN texts AS t USING (id) JOIN bases AS b ON b.key = e.base"
                " WHERE b.tenant_id = $1 AND b.base_id = $2",
                tenant_id,
                base_id,
            )
            return int(size or 0)

        return await self._connections.run(work)

    async def generation(self) -> str:
        async def work(connection: Any) -> str:
            return str(await connection.fetchval("SELECT value FROM meta WHERE name = 'generation'"))

        await self._check()
        return await self._connections.run(work)

    async def settle(self) -> None:
        """Wait until the indexes that are being made are there."""
        await asyncio.gather(*self._building.values())

    async def close(self) -> None:
        for task in self._building.values():
            task.cancel()
        await asyncio.gather(*self._building.values(), return_exceptions=True)
        await self._connections.close()

    async def _change(self, scope: Scope, base_id: str, work: Callable[[Any, int], Awaitable[None]]) -> None:
        """Change a base in one transaction; a base that was never written needs no change."""
        tenant_id = scope.owner_of(base_id)

        async def run(connection: Any) -> None:
            base = await write.hold_base(connection, tenant_id, base_id)
            if base is not None:
                await work(connection, base)

        await self._check()
        await self._connections.transact(run)

    async def _check(self) -> None:
        """Before the first use: bring tallies of another version up to date, and make indexes that are missing."""
        if self._is_checked:
            return
        async with self._checking:
            if self._is_checked:
                return
            for base in await self._connections.run(schema.outdated_bases):
                log.warning("The words of base %d are of another version and are made again.", base)
                await self._connections.transact(partial(write.rebuild_terms, base=base))
            self._index(set(await self._connections.run(hnsw.unindexed)))
            self._is_checked = True

    def _index(self, dimensions: Collection[int]) -> None:
        for dimension in dimensions:
            if dimension <= hnsw.MAX_INDEXED and dimension not in self._indexed and dimension not in self._building:
                task = asyncio.create_task(self._build(dimension))
                self._building[dimension] = task
                task.add_done_callback(partial(self._built, dimension))

    def _built(self, dimension: int, _: asyncio.Task[None]) -> None:
        del self._building[dimension]

    async def _build(self, dimension: int) -> None:
        """A search without the index is exact and slower; the next write tries again."""
        try:
            if await self._connections.alone(partial(hnsw.make_index, dimension=dimension)):
                self._indexed.add(dimension)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, EngineError) as error:
            log.warning("Vectors of %d numbers have no index in PostgreSQL yet: %s", dimension, error)


def _check_top_k(top_k: int) -> None:
    if top_k < 1:
        raise InvalidInput.of("top_k", "A search asks for at least one result.")


def _by_base(scope: Scope, rows: Sequence[IndexRow]) -> dict[tuple[str, str], list[Stored]]:
    by_base: dict[tuple[str, str], list[Stored]] = {}
    for row in rows:
        if scope.owner_of(row.base_id) != row.tenant_id:
            raise Forbidden("This knowledge base is not available.", details={"base_id": row.base_id})
        by_base.setdefault((row.tenant_id, row.base_id), []).append(_stored(row))
    return by_base


def _stored(row: IndexRow) -> Stored:
    data = unit_bytes(row)
    if row.dimension > hnsw.MAX_DIMENSION and data is not None:
        raise InvalidInput.of("vector", f"PostgreSQL keeps vectors of at most {hnsw.MAX_DIMENSION:,} numbers.")
    text = clean(row.text)
    return Stored(
        chunk_id=row.chunk_id,
        document_id=row.document_id,
        chunk_type=row.chunk_type.value,
        text=text,
        enabled=row.enabled,
        tag_ids=row.tag_ids,
        vector=None if data is None else np.frombuffer(data, np.float32),
        terms=write.tallied(text),
    )
