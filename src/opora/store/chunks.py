"""Chunks in the relational store: replaced whole by document, marked when their vector is written."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from opora.domain.errors import NotFound
from opora.domain.faq import FAQ_FILE_TYPE
from opora.domain.forms import owner_of_form
from opora.domain.knowledge import Chunk, ChunkType, Document
from opora.domain.scope import Scope
from opora.domain.search import SearchResult
from opora.ports import Listed, Page
from opora.store.codec import dump, dump_place, dump_tags, load_mapping, load_place, load_tags
from opora.store.connection import Connection
from opora.store.hydrate import hydrate
from opora.store.scoping import Condition, in_shown_base, in_steps, of_bases, of_chunks, of_documents
from opora.store.tables import chunks, documents, strays
from opora.store.types import insert_into

_c = chunks.c
_IS_FORM: Condition = _c.chunk_type == ChunkType.QUESTION.value
_NO_FORM: Condition = _c.chunk_type != ChunkType.QUESTION.value
WRITE_STEP = 1000
"""Rows a statement: bounds the memory that a long document takes on its way in."""
_KEPT = frozenset({"chunk_id", "base_id", "tenant_id", "document_id", "enabled", "embedded_by"})


class SqlChunks:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def replace_document(self, scope: Scope, document: Document, chunks_: Sequence[Chunk]) -> set[str]:
        mine = (_c.document_id == document.document_id, of_bases(chunks, scope))
        before = set(await self._connection.scalars(sa.select(_c.chunk_id).where(*mine)))
        kept = {chunk.chunk_id for chunk in chunks_}
        gone = {chunk_id for chunk_id in before if owner_of_form(chunk_id) not in kept}
        for step in in_steps(gone):
            await self._connection.execute(sa.delete(chunks).where(_c.chunk_id.in_(step), *mine))
        await self.put(scope, document, chunks_)
        return gone

    async def put(self, scope: Scope, document: Document, chunks_: Sequence[Chunk]) -> None:
        owner = scope.owner_of(document.base_id)
        insert = insert_into(self._connection, chunks)
        changed = {column.name: insert.excluded[column.name] for column in chunks.columns if column.name not in _KEPT}
        upsert = insert.on_conflict_do_update(
            index_elements=[_c.chunk_id], set_=changed, where=_c.document_id == document.document_id
        )
        for start in range(0, len(chunks_), WRITE_STEP):
            rows = [_to_row(chunk, document, owner) for chunk in chunks_[start : start + WRITE_STEP]]
            await self._connection.execute(upsert, rows)

    async def count_searched(self, scope: Scope, document_id: str, *, model: str | None = None) -> int:
        query = sa.select(sa.func.count()).where(_c.document_id == document_id, _c.is_searched, of_bases(chunks, scope))
        if model is not None:
            query = query.where(_c.embedded_by == model)
        return await self._connection.scalar(query) or 0

    async def get_many(self, scope: Scope, chunk_ids: Collection[str]) -> dict[str, Chunk]:
        found: dict[str, Chunk] = {}
        for step in in_steps(chunk_ids):
            query = sa.select(chunks).where(_c.chunk_id.in_(step), _NO_FORM, of_chunks(scope))
            found |= {row.chunk_id: _to_chunk(row) for row in await self._connection.execute(query)}
        return found

    async def forms(self, scope: Scope, owner_ids: Collection[str]) -> dict[str, list[Chunk]]:
        found: dict[str, list[Chunk]] = {}
        for step in in_steps(owner_ids):
            query = sa.select(chunks).where(_c.parent_chunk_id.in_(step), _IS_FORM, of_chunks(scope))
            for row in await self._connection.execute(query.order_by(_c.chunk_index, _c.chunk_id)):
                found.setdefault(row.parent_chunk_id, []).append(_to_chunk(row))
        return found

    async def present(self, scope: Scope, chunk_ids: Collection[str]) -> set[str]:
        found: set[str] = set()
        for step in in_steps(chunk_ids):
            query = sa.select(_c.chunk_id).where(_c.chunk_id.in_(step), of_bases(chunks, scope))
            found |= set(await self._connection.scalars(query))
        return found

    async def hydrate(self, scope: Scope, chunk_ids: Collection[str]) -> dict[str, SearchResult]:
        return await hydrate(self._connection, scope, chunk_ids)

    async def owner(self, tenant_id: str, chunk_id: str) -> tuple[str, str]:
        query = (
            sa.select(_c.base_id, _c.document_id)
            .join(documents, documents.c.document_id == _c.document_id)
            .where(_c.tenant_id == tenant_id, _c.chunk_id == chunk_id, _NO_FORM, documents.c.parse_status != "deleting")
            .where(in_shown_base())
        )
        row = (await self._connection.execute(query)).one_or_none()
        if row is None:
            raise NotFound("There is no such chunk.", details={"chunk_id": chunk_id})
        return row.base_id, row.document_id

    async def ids(self, scope: Scope, *, model: str | None = None) -> set[str]:
        query = sa.select(_c.chunk_id).where(_c.is_searched, of_chunks(scope))
        if model is not None:
            query = query.where(_c.embedded_by == model)
        return set(await self._connection.scalars(query))

    async def browse(self, scope: Scope, document_id: str, page: Page, *, with_forms: bool = False) -> Listed[Chunk]:
        shown = sa.true() if with_forms else _NO_FORM
        condition = sa.and_(_c.document_id == document_id, shown, of_chunks(scope))
        total = await self._connection.scalar(sa.select(sa.func.count()).select_from(chunks).where(condition))
        query = sa.select(chunks).where(condition).order_by(_c.chunk_index, _c.chunk_id)
        rows = await self._connection.execute(query.limit(page.page_size).offset(page.offset))
        return Listed(items=tuple(_to_chunk(row) for row in rows), total=total or 0)

    async def without_vector(
        self, scope: Scope, document_id: str, model: str, *, limit: int, start: int = 0
    ) -> list[Chunk]:
        """Unmarked ones first and by themselves: that is a walk along an index, however long the document is."""
        mine = sa.and_(_c.document_id == document_id, _c.is_searched, _c.chunk_index >= start, of_chunks(scope))
        query = sa.select(chunks).where(mine).order_by(_c.chunk_index).limit(limit)
        rows = (await self._connection.execute(query.where(_c.embedded_by == ""))).all()
        if not rows:
            rows = (await self._connection.execute(query.where(_c.embedded_by != model))).all()
        return [_to_chunk(row) for row in rows]

    async def mark_embedded(self, scope: Scope, chunk_ids: Collection[str], model: str) -> None:
        for step in in_steps(chunk_ids):
            query = sa.update(chunks).where(_c.chunk_id.in_(step), of_bases(chunks, scope))
            await self._connection.execute(query.values(embedded_by=model))

    async def count_unembedded(self, scope: Scope, document_id: str, model: str, *, with_forms: bool = True) -> int:
        counted = sa.true() if with_forms else _NO_FORM
        query = sa.select(sa.func.count()).where(
            _c.document_id == document_id, _c.is_searched, _c.embedded_by != model, counted, of_chunks(scope)
        )
        return await self._connection.scalar(query) or 0

    async def update(self, scope: Scope, chunk: Chunk) -> None:
        values = _to_row(chunk, None, chunk.tenant_id)
        kept = {name: value for name, value in values.items() if name not in _KEPT} | {"enabled": chunk.enabled}
        query = sa.update(chunks).where(_c.chunk_id == chunk.chunk_id, of_chunks(replace(scope, include_disabled=True)))
        if (await self._connection.execute(query.values(**kept))).rowcount == 0:
            raise NotFound("There is no such chunk.", details={"chunk_id": chunk.chunk_id})
        follow = sa.update(chunks).where(_c.parent_chunk_id == chunk.chunk_id, _IS_FORM, of_bases(chunks, scope))
        await self._connection.execute(follow.values(enabled=chunk.enabled, tag_ids=values["tag_ids"]))

    async def delete(self, scope: Scope, chunk_ids: Collection[str]) -> None:
        for step in in_steps(chunk_ids):
            owned = sa.and_(_c.parent_chunk_id.in_(step), _IS_FORM)
            which = sa.or_(_c.chunk_id.in_(step), owned)
            await self._connection.execute(sa.delete(chunks).where(which, of_bases(chunks, scope)))

    async def forget_vectors(self, tenant_id: str | None = None) -> None:
        marks = sa.update(chunks).where(_c.embedded_by != "").values(embedded_by="")
        counts = sa.update(documents).where(documents.c.embedded_count != 0).values(embedded_count=0)
        if tenant_id is not None:
            marks, counts = marks.where(_c.tenant_id == tenant_id), counts.where(documents.c.tenant_id == tenant_id)
        await self._connection.execute(marks)
        await self._connection.execute(counts)

    async def models(self, scope: Scope) -> set[str]:
        query = sa.select(_c.embedded_by).distinct().where(_c.embedded_by != "", of_chunks(scope))
        return set(await self._connection.scalars(query))

    async def recount(self, scope: Scope, model: str) -> None:
        counted = sa.select(sa.func.count()).where(
            _c.document_id == documents.c.document_id,
            _c.is_searched,
            _c.embedded_by == model,
            sa.or_(_NO_FORM, documents.c.file_type == FAQ_FILE_TYPE),
        )
        query = sa.update(documents).where(of_documents(scope)).values(embedded_count=counted.scalar_subquery())
        await self._connection.execute(query)

    async def add_strays(self, scope: Scope, document: Document, chunk_ids: Collection[str]) -> None:
        owner = scope.owner_of(document.base_id)
        common = {"base_id": document.base_id, "tenant_id": owner, "document_id": document.document_id}
        for step in in_steps(chunk_ids):
            insert = insert_into(self._connection, strays).on_conflict_do_nothing()
            await self._connection.execute(insert, [{"chunk_id": chunk_id, **common} for chunk_id in step])

    async def strays(self, scope: Scope, document_id: str) -> set[str]:
        held = sa.exists().where(_c.chunk_id == strays.c.chunk_id)
        query = sa.select(strays.c.chunk_id).where(
            strays.c.document_id == document_id, of_bases(strays, scope), sa.not_(held)
        )
        return set(await self._connection.scalars(query))

    async def forget_strays(self, scope: Scope, document_id: str, chunk_ids: Collection[str]) -> None:
        mine = (strays.c.document_id == document_id, of_bases(strays, scope))
        held = sa.exists().where(_c.chunk_id == strays.c.chunk_id)
        await self._connection.execute(sa.delete(strays).where(*mine, held))
        for step in in_steps(chunk_ids):
            await self._connection.execute(sa.delete(strays).where(*mine, strays.c.chunk_id.in_(step)))


def _to_row(chunk: Chunk, document: Document | None, owner: str) -> dict[str, Any]:
    if document is not None and (chunk.document_id, chunk.base_id) != (document.document_id, document.base_id):
        raise ValueError(f"chunk {chunk.chunk_id} is of another document")
    return {
        "chunk_id": chunk.chunk_id,
        "base_id": chunk.base_id,
        "tenant_id": owner,
        "document_id": chunk.document_id,
        "chunk_index": chunk.chunk_index,
        "content": chunk.content,
        "context": chunk.context,
        "chunk_type": chunk.chunk_type.value,
        "is_searched": chunk.is_searched,
        "place": dump_place(chunk.place),
        "parent_chunk_id": chunk.parent_chunk_id,
        "pre_chunk_id": chunk.pre_chunk_id,
        "next_chunk_id": chunk.next_chunk_id,
        "enabled": chunk.enabled,
        "tag_ids": dump_tags(chunk.tag_ids),
        "metadata": dump(chunk.metadata),
        "embedded_by": "",
    }


def _to_chunk(row: sa.Row[Any]) -> Chunk:
    return Chunk(
        chunk_id=row.chunk_id,
        base_id=row.base_id,
        tenant_id=row.tenant_id,
        document_id=row.document_id,
        chunk_index=row.chunk_index,
        content=row.content,
        context=row.context,
        chunk_type=ChunkType(row.chunk_type),
        place=load_place(row.place),
        parent_chunk_id=row.parent_chunk_id,
        pre_chunk_id=row.pre_chunk_id,
        next_chunk_id=row.next_chunk_id,
        enabled=row.enabled,
        tag_ids=load_tags(row.tag_ids),
        metadata=load_mapping(row.metadata),
    )
