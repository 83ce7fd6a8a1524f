"""Knowledge bases in the relational store."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any

import sqlalchemy as sa

from opora.domain.bases import BaseStatistics, CopyStatus
from opora.domain.codec import build, plain
from opora.domain.enrichment import EnrichmentConfig
from opora.domain.errors import NotFound
from opora.domain.faq import FAQ_FILE_TYPE
from opora.domain.knowledge import BaseType, ChunkingConfig, FaqConfig, IndexingStrategy, KnowledgeBase, ParseStatus
from opora.domain.scope import BaseRef, Scope
from opora.ports import Listed, Page
from opora.store.codec import dump
from opora.store.connection import Connection
from opora.store.scoping import Condition, folded, of_bases
from opora.store.tables import base_copies, bases, chunks, documents, faq_entries, strays, work
from opora.store.types import position


class SqlBases:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def add(self, base: KnowledgeBase, *, is_hidden: bool = False) -> None:
        await self._connection.execute(sa.insert(bases).values(**_to_row(base), is_hidden=is_hidden))

    async def show(self, scope: Scope, base_id: str) -> None:
        await self._connection.execute(sa.update(bases).where(*_mine(scope, base_id)).values(is_hidden=False))

    async def hidden(self, scope: Scope, base_id: str) -> KnowledgeBase | None:
        query = sa.select(bases).where(*_mine(scope, base_id), bases.c.is_hidden)
        row = (await self._connection.execute(query)).one_or_none()
        return None if row is None else _to_base(row)

    async def by_name(self, tenant_id: str, name: str) -> list[KnowledgeBase]:
        coming = sa.exists().where(base_copies.c.target_id == bases.c.base_id, base_copies.c.status.in_(_UNDER_WAY))
        query = sa.select(bases).where(
            bases.c.tenant_id == tenant_id,
            bases.c.name_folded == folded(name),
            sa.or_(sa.not_(bases.c.is_hidden), coming),
        )
        rows = await self._connection.execute(query.order_by(bases.c.created_at, bases.c.base_id))
        return [_to_base(row) for row in rows]

    async def statistics(self, scope: Scope, base_id: str) -> BaseStatistics:
        found = await self.find(scope.owner_of(base_id), [base_id])
        if not found:
            raise NotFound("There is no such knowledge base.", details={"base_id": base_id})
        live = sa.and_(
            documents.c.base_id == base_id,
            of_bases(documents, scope),
            documents.c.parse_status != ParseStatus.DELETING.value,
        )
        sums = [sa.func.sum(documents.c[name]).label(name) for name in _SUMMED]
        last = sa.func.max(documents.c.updated_at).label("changed_at")
        groups = (documents.c.parse_status, documents.c.file_type)
        query = sa.select(*groups, sa.func.count().label("documents"), *sums, last).where(live).group_by(*groups)
        rows: list[Any] = list((await self._connection.execute(query)).all())
        entries = sa.select(sa.func.count()).where(faq_entries.c.base_id == base_id)
        return BaseStatistics(
            documents=_by_status(rows),
            entries=await self._connection.scalar(entries) or 0,
            chunks=sum(int(row.chunk_count) for row in rows),
            embedded=sum(int(row.embedded_count) for row in rows),
            file_bytes=sum(int(row.file_size) for row in rows),
            changed_at=max([found[0].updated_at, *(row.changed_at for row in rows)]),
        )

    async def find(self, tenant_id: str, base_ids: Collection[str]) -> list[KnowledgeBase]:
        query = sa.select(bases).where(
            bases.c.tenant_id == tenant_id, bases.c.base_id.in_(sorted(base_ids)), sa.not_(bases.c.is_hidden)
        )
        return [_to_base(row) for row in await self._connection.execute(query.order_by(bases.c.base_id))]

    async def browse(self, tenant_id: str, page: Page, *, name: str = "") -> Listed[KnowledgeBase]:
        condition = sa.and_(bases.c.tenant_id == tenant_id, sa.not_(bases.c.is_hidden))
        if name:
            condition = sa.and_(condition, position(bases.c.name_folded, folded(name)) > 0)
        total = await self._connection.scalar(sa.select(sa.func.count()).select_from(bases).where(condition))
        order = (bases.c.is_pinned.desc(), bases.c.updated_at.desc(), bases.c.base_id)
        query = sa.select(bases).where(condition).order_by(*order).limit(page.page_size).offset(page.offset)
        rows = await self._connection.execute(query)
        return Listed(items=tuple(_to_base(row) for row in rows), total=total or 0)

    async def refs(self, *, tenant_id: str | None = None, base_ids: Collection[str] | None = None) -> list[BaseRef]:
        query = sa.select(bases.c.base_id, bases.c.tenant_id).where(sa.not_(bases.c.is_hidden))
        if tenant_id is not None:
            query = query.where(bases.c.tenant_id == tenant_id)
        if base_ids is not None:
            query = query.where(bases.c.base_id.in_(sorted(base_ids)))
        rows = await self._connection.execute(query.order_by(bases.c.base_id))
        return [BaseRef(base_id=row.base_id, tenant_id=row.tenant_id) for row in rows]

    async def of_model(self, tenant_id: str, model_id: str, *, holding_vectors: bool = False) -> list[KnowledgeBase]:
        query = sa.select(bases).where(bases.c.tenant_id == tenant_id, bases.c.own_model_id == model_id)
        query = query.where(sa.not_(bases.c.is_hidden))
        if holding_vectors:
            query = query.where(sa.exists().where(chunks.c.base_id == bases.c.base_id, chunks.c.embedded_by != ""))
        return [_to_base(row) for row in await self._connection.execute(query.order_by(bases.c.base_id))]

    async def update(self, scope: Scope, base: KnowledgeBase) -> None:
        owner = scope.owner_of(base.base_id)
        query = sa.update(bases).where(
            bases.c.base_id == base.base_id, bases.c.tenant_id == owner, sa.not_(bases.c.is_hidden)
        )
        values = {name: value for name, value in _to_row(base).items() if name not in _FIXED}
        if (await self._connection.execute(query.values(**values))).rowcount == 0:
            raise NotFound("There is no such knowledge base.", details={"base_id": base.base_id})

    async def hide(self, scope: Scope, base_id: str) -> None:
        owner = scope.owner_of(base_id)
        if (
            await self._connection.execute(sa.update(bases).where(*_mine(scope, base_id)).values(is_hidden=True))
        ).rowcount == 0:
            raise NotFound("There is no such knowledge base.", details={"base_id": base_id})
        await self._connection.execute(
            sa.update(documents)
            .where(documents.c.base_id == base_id, documents.c.tenant_id == owner)
            .values(parse_status=ParseStatus.DELETING.value)
        )
        await self._cancel_work(base_id)

    async def delete(self, scope: Scope, base_id: str) -> None:
        owner = scope.owner_of(base_id)
        await self._connection.execute(
            sa.delete(strays).where(strays.c.base_id == base_id, strays.c.tenant_id == owner)
        )
        await self._cancel_work(base_id)
        await self._connection.execute(sa.delete(bases).where(*_mine(scope, base_id)))

    async def _cancel_work(self, base_id: str) -> None:
        await self._connection.execute(sa.delete(work).where(work.c.base_id == base_id, work.c.lease_owner == ""))


_UNDER_WAY = (CopyStatus.PENDING.value, CopyStatus.PROCESSING.value)
_SUMMED = ("chunk_count", "embedded_count", "file_size")
_FIXED = frozenset({"base_id", "tenant_id", "created_at"})


def _by_status(rows: Iterable[Any]) -> dict[ParseStatus, int]:
    """What all entries of a FAQ hang on is no document for people."""
    counts: Counter[ParseStatus] = Counter()
    for row in rows:
        if row.file_type != FAQ_FILE_TYPE:
            counts[ParseStatus(row.parse_status)] += row.documents
    return dict(counts)


def _mine(scope: Scope, base_id: str) -> tuple[Condition, Condition]:
    return bases.c.base_id == base_id, bases.c.tenant_id == scope.owner_of(base_id)


def _to_row(base: KnowledgeBase) -> dict[str, Any]:
    return {
        "base_id": base.base_id,
        "tenant_id": base.tenant_id,
        "name": base.name,
        "name_folded": folded(base.name),
        "base_type": base.base_type.value,
        "description": base.description,
        "chunking": dump(plain(base.chunking)),
        "indexing": dump(plain(base.indexing)),
        "faq_config": dump(plain(base.faq)),
        "enrichment": dump(plain(base.enrichment)),
        "embedding_model_id": base.embedding_model_id,
        "own_model_id": base.own_model_id,
        "vector_store_id": base.vector_store_id,
        "is_pinned": base.is_pinned,
        "created_at": base.created_at,
        "updated_at": base.updated_at,
    }


def _to_base(row: sa.Row[Any]) -> KnowledgeBase:
    return KnowledgeBase(
        base_id=row.base_id,
        tenant_id=row.tenant_id,
        name=row.name,
        base_type=BaseType(row.base_type),
        description=row.description,
        chunking=build(ChunkingConfig, json.loads(row.chunking) if row.chunking else {}),
        indexing=build(IndexingStrategy, json.loads(row.indexing) if row.indexing else {}),
        faq=build(FaqConfig, json.loads(row.faq_config) if row.faq_config else {}),
        enrichment=build(EnrichmentConfig, json.loads(row.enrichment) if row.enrichment else {}),
        embedding_model_id=row.embedding_model_id,
        own_model_id=row.own_model_id,
        vector_store_id=row.vector_store_id,
        is_pinned=row.is_pinned,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
