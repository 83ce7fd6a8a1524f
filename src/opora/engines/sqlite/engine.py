"""The embedded engine: one file, exact vector search and BM25, no service needed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

import apsw

from opora.domain.errors import Forbidden, InvalidInput
from opora.domain.scope import Scope
from opora.domain.search import Capability, EngineHit, IndexRow
from opora.engines.sqlite import keyword, write
from opora.engines.sqlite.connections import Connections
from opora.engines.sqlite.postings import PostingCache
from opora.engines.sqlite.scan import Scanner
from opora.engines.sqlite.segments import Segments
from opora.engines.sqlite.vector import read_vectors
from opora.engines.sqlite.vector import search as search_by_vector
from opora.engines.sqlite.write import Stored
from opora.engines.vectors import unit_bytes, unit_query
from opora.ports import Clock, NewId, Vectors
from opora.text.fold import clean

T = TypeVar("T")

SEGMENT_BYTES = 256 * 1024 * 1024
"""Memory for hot bases: about 170,000 vectors of 384 numbers. A larger base is read from the file in blocks."""
POSTINGS_SHARE = 8
"""Beside it, one part in so many for the words of recent queries."""
READERS = 2


def _random_id() -> str:
    return uuid4().hex


def _now() -> datetime:
    return datetime.now(UTC)


class SqliteEngine:
    """A `SearchEngine` on a SQLite file of its own, opened at the first call."""

    name = "sqlite"
    capabilities = frozenset(
        {
            Capability.VECTOR,
            Capability.KEYWORD,
            Capability.KEYWORD_SCORES,
            Capability.NEGATIVE_COSINE,
            Capability.STEMMING,
            Capability.STORED_VECTORS,
        }
    )

    def __init__(
        self,
        path: str | Path,
        *,
        segment_bytes: int = SEGMENT_BYTES,
        readers: int = READERS,
        new_id: NewId = _random_id,
        clock: Clock = _now,
    ) -> None:
        self._connections = Connections(Path(path), readers=readers, new_id=new_id, clock=clock)
        self._segments = Segments(segment_bytes)
        self._postings = PostingCache(segment_bytes // POSTINGS_SHARE)
        self._scanner = Scanner()

    async def write(self, scope: Scope, rows: Sequence[IndexRow]) -> None:
        """All rows are written or none; raises before anything is written when one row does not fit."""
        by_base: dict[tuple[str, str], list[Stored]] = {}
        for row in rows:
            if scope.owner_of(row.base_id) != row.tenant_id:
                raise Forbidden("This knowledge base is not available.", details={"base_id": row.base_id})
            by_base.setdefault((row.tenant_id, row.base_id), []).append(_stored(row))

        def work(connection: apsw.Connection) -> None:
            for (tenant_id, base_id), stored in by_base.items():
                write.upsert(connection, write.make_base(connection, tenant_id, base_id), stored)

        if by_base:
            await self._connections.write(work)

    async def search_vector(self, scope: Scope, vector: Vectors, *, top_k: int, threshold: float) -> list[EngineHit]:
        query = unit_query(vector)
        _check_top_k(top_k)
        return await self._connections.read(
            lambda connection: search_by_vector(
                connection, self._segments, self._scanner, scope, query, top_k=top_k, threshold=threshold
            )
        )

    async def search_keyword(self, scope: Scope, query: str, *, top_k: int) -> list[EngineHit]:
        _check_top_k(top_k)
        return await self._connections.read(
            lambda connection: keyword.search(connection, self._segments, self._postings, scope, query, top_k=top_k)
        )

    async def delete_chunks(self, scope: Scope, base_id: str, chunk_ids: Collection[str]) -> None:
        await self._change(scope, base_id, partial(write.delete_chunks, chunk_ids=chunk_ids))

    async def delete_documents(self, scope: Scope, base_id: str, document_ids: Collection[str]) -> None:
        await self._change(scope, base_id, partial(write.delete_documents, document_ids=document_ids))

    async def delete_base(self, scope: Scope, base_id: str) -> None:
        def work(connection: apsw.Connection, base: int) -> None:
            write.delete_base(connection, base)
            self._segments.forget(base)

        await self._change(scope, base_id, work)

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

        def work(connection: apsw.Connection) -> None:
            source = write.base_key(connection, source_tenant, source_id)
            if source is not None:
                target = write.make_base(connection, target_tenant, target_id)
                write.copy_base(connection, source, target, chunk_ids, document_ids or {})

        await self._connections.write(work)

    async def chunk_ids(self, scope: Scope, base_id: str, *, with_vector: bool = False) -> set[str]:
        tenant_id = scope.owner_of(base_id)

        def work(connection: apsw.Connection) -> set[str]:
            base = write.base_key(connection, tenant_id, base_id)
            also = "AND slot IS NOT NULL" if with_vector else ""
            return {row for (row,) in connection.execute(f"SELECT chunk_id FROM row WHERE base = ? {also}", (base,))}

        return await self._connections.read(work)

    async def vectors(self, scope: Scope, base_id: str, chunk_ids: Collection[str]) -> dict[str, Vectors]:
        tenant_id = scope.owner_of(base_id)

        def work(connection: apsw.Connection) -> dict[str, Vectors]:
            base = write.base_key(connection, tenant_id, base_id)
            return {} if base is None else read_vectors(connection, base, chunk_ids)

        return await self._connections.read(work)

    async def storage_bytes(self, scope: Scope, base_id: str) -> int:
        """What the base's texts, vectors and full-text table take, without the file's own overhead."""
        tenant_id = scope.owner_of(base_id)

        def work(connection: apsw.Connection) -> int:
            base = write.base_key(connection, tenant_id, base_id)
            return 0 if base is None else _storage_bytes(connection, base)

        return await self._connections.read(work)

    async def generation(self) -> str:
        def work(connection: apsw.Connection) -> str:
            return str(connection.execute("SELECT value FROM meta WHERE name = 'generation'").get)

        return await self._connections.read(work)

    async def close(self) -> None:
        await self._connections.close()
        self._scanner.close()

    async def _change(self, scope: Scope, base_id: str, work: Callable[[apsw.Connection, int], None]) -> None:
        """Change a base in one transaction; a base that was never written needs no change."""
        tenant_id = scope.owner_of(base_id)

        def run(connection: apsw.Connection) -> None:
            base = write.base_key(connection, tenant_id, base_id)
            if base is not None:
                work(connection, base)

        await self._connections.write(run)


def _check_top_k(top_k: int) -> None:
    if top_k < 1:
        raise InvalidInput.of("top_k", "A search asks for at least one result.")


def _stored(row: IndexRow) -> Stored:
    return Stored(
        chunk_id=row.chunk_id,
        document_id=row.document_id,
        chunk_type=row.chunk_type.value,
        text=clean(row.text),
        enabled=row.enabled,
        tag_ids=row.tag_ids,
        vector=unit_bytes(row),
        dimension=row.dimension,
    )


def _storage_bytes(connection: apsw.Connection, base: int) -> int:
    sums = (
        "SELECT sum(octet_length(text)) FROM body WHERE id IN (SELECT id FROM row WHERE base = :base)",
        "SELECT sum(octet_length(data)) FROM vector WHERE base = :base",
        f"SELECT sum(octet_length(block)) FROM words_{base}_data WHERE :base > 0",
    )
    return sum(connection.execute(sql, {"base": base}).get or 0 for sql in sums)
