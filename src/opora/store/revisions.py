"""The states of edited chunks in the relational store; they go with their document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from opora.domain.errors import NotFound
from opora.domain.revisions import ChunkRevision, RevisionOrigin
from opora.domain.scope import Scope
from opora.store.connection import Connection
from opora.store.scoping import Condition, among, in_shown_base, of_bases
from opora.store.tables import chunk_revisions, documents

_c = chunk_revisions.c


class SqlRevisions:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def of_document(self, scope: Scope, document_id: str) -> list[ChunkRevision]:
        query = sa.select(chunk_revisions).where(_c.document_id == document_id, _mine(scope))
        rows = await self._connection.execute(query.order_by(_c.lineage_id, _c.revision))
        return [_to_revision(row) for row in rows]

    async def lineage(self, scope: Scope, chunk_id: str) -> list[ChunkRevision]:
        own = sa.select(_c.lineage_id).where(_c.chunk_id == chunk_id, _mine(scope))
        query = sa.select(chunk_revisions).where(_c.lineage_id.in_(own), _mine(scope)).order_by(_c.revision)
        return [_to_revision(row) for row in await self._connection.execute(query)]

    async def owner(self, tenant_id: str, chunk_id: str) -> tuple[str, str]:
        query = (
            sa.select(_c.base_id, _c.document_id)
            .join(documents, documents.c.document_id == _c.document_id)
            .where(_c.tenant_id == tenant_id, _c.chunk_id == chunk_id, documents.c.parse_status != "deleting")
            .where(in_shown_base())
            .limit(1)
        )
        row = (await self._connection.execute(query)).one_or_none()
        if row is None:
            raise NotFound("There is no such chunk.", details={"chunk_id": chunk_id})
        return row.base_id, row.document_id

    async def add(self, scope: Scope, revisions: Sequence[ChunkRevision]) -> None:
        for one in revisions:
            if scope.owner_of(one.base_id) != one.tenant_id:
                raise NotFound("There is no such chunk.", details={"chunk_id": one.chunk_id})
        rows = [_to_row(one) for one in revisions]
        if rows:
            await self._connection.execute(sa.insert(chunk_revisions), rows)


def _mine(scope: Scope) -> Condition:
    """A scope that is limited to documents sees the states of their chunks only."""
    own = of_bases(chunk_revisions, scope)
    return own if scope.document_ids is None else sa.and_(own, among(_c.document_id, scope.document_ids))


def _to_row(one: ChunkRevision) -> dict[str, Any]:
    return {
        "lineage_id": one.lineage_id,
        "revision": one.revision,
        "chunk_id": one.chunk_id,
        "document_id": one.document_id,
        "base_id": one.base_id,
        "tenant_id": one.tenant_id,
        "origin": one.origin.value,
        "content": one.content,
        "context": one.context,
        "author": one.author,
        "after": one.after,
        "created_at": one.created_at,
    }


def _to_revision(row: sa.Row[Any]) -> ChunkRevision:
    return ChunkRevision(
        chunk_id=row.chunk_id,
        lineage_id=row.lineage_id,
        document_id=row.document_id,
        base_id=row.base_id,
        tenant_id=row.tenant_id,
        revision=row.revision,
        origin=RevisionOrigin(row.origin),
        content=row.content,
        context=row.context,
        author=row.author,
        after=row.after,
        created_at=row.created_at,
    )
