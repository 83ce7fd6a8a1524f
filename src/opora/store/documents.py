"""Documents in the relational store."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from opora.domain.errors import Conflict, NotFound
from opora.domain.faq import FAQ_FILE_TYPE
from opora.domain.filters import Filter
from opora.domain.knowledge import Document, Origin, ParseStatus
from opora.domain.scope import Scope
from opora.domain.work import WorkKind
from opora.ports import Listed, Page
from opora.store.codec import dump, dump_tags, load_mapping, load_tags
from opora.store.connection import Connection
from opora.store.filtering import fitting
from opora.store.scoping import Condition, folded, in_shown_base, in_steps, of_bases, of_documents
from opora.store.tables import bases, chunk_revisions, chunks, document_steps, documents, enrichments, strays, work
from opora.store.types import insert_into, position

_c = documents.c
_LIVE: Condition = _c.parse_status != ParseStatus.DELETING.value


class SqlDocuments:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def add(self, scope: Scope, document: Document, *, into_hidden: bool = False) -> None:
        owned = sa.select(bases.c.base_id).where(
            bases.c.base_id == document.base_id, of_bases(bases, scope), bases.c.is_hidden == into_hidden
        )
        if scope.owner_of(document.base_id) != document.tenant_id or await self._connection.scalar(owned) is None:
            raise NotFound("There is no such knowledge base.", details={"base_id": document.base_id})
        insert = insert_into(self._connection, documents).values(**_to_row(document)).on_conflict_do_nothing()
        if not (await self._connection.execute(insert)).rowcount:
            raise await self._conflict(scope, document)

    async def owner(self, tenant_id: str, document_id: str) -> str:
        query = sa.select(_c.base_id).where(
            _c.tenant_id == tenant_id, _c.document_id == document_id, _LIVE, in_shown_base()
        )
        base_id: str | None = await self._connection.scalar(query)
        if base_id is None:
            raise _absent(document_id)
        return base_id

    async def get(self, scope: Scope, document_id: str) -> Document:
        query = sa.select(documents).where(_c.document_id == document_id, of_documents(scope))
        row = (await self._connection.execute(query)).one_or_none()
        if row is None:
            raise _absent(document_id)
        return _to_document(row)

    async def get_many(self, scope: Scope, document_ids: Collection[str]) -> dict[str, Document]:
        found: dict[str, Document] = {}
        for step in in_steps(document_ids):
            query = sa.select(documents).where(_c.document_id.in_(step), of_documents(scope))
            found |= {row.document_id: _to_document(row) for row in await self._connection.execute(query)}
        return found

    async def known(self, document_ids: Collection[str]) -> set[str]:
        found: set[str] = set()
        for step in in_steps(document_ids):
            found |= set(await self._connection.scalars(sa.select(_c.document_id).where(_c.document_id.in_(step))))
        return found

    async def count_unembedded(self, scope: Scope) -> int:
        settled = (ParseStatus.FAILED.value, ParseStatus.DELETING.value)
        query = sa.select(sa.func.count()).where(
            of_documents(scope), _c.embedded_count < _c.chunk_count, _c.parse_status.not_in(settled)
        )
        return await self._connection.scalar(query) or 0

    async def ids(self, scope: Scope) -> list[str]:
        query = sa.select(_c.document_id).where(of_documents(scope)).order_by(_c.document_id)
        return list(await self._connection.scalars(query))

    async def owners(self, tenant_id: str, document_ids: Collection[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for step in in_steps(document_ids):
            query = sa.select(_c.document_id, _c.base_id).where(
                _c.tenant_id == tenant_id, _c.document_id.in_(step), _LIVE
            )
            found |= {row.document_id: row.base_id for row in await self._connection.execute(query)}
        return found

    async def fitting(self, scope: Scope, *, folder: str = "", fits: Filter | None = None) -> frozenset[str]:
        names = sorted(fits.own_fields) if fits is not None else []
        columns = [_c.document_id, _c.metadata, *(_c[name[1:]] for name in names)]
        query = sa.select(*columns).where(of_documents(scope), _LIVE, _is_within(folder))
        rows = await self._connection.execute(query)
        if fits is None:
            return frozenset(row.document_id for row in rows)
        return await asyncio.to_thread(fitting, rows.all(), names, fits)

    async def folders(self, scope: Scope) -> dict[str, int]:
        query = sa.select(_c.folder, sa.func.count().label("knowledge_count")).where(
            of_documents(scope), _LIVE, _c.file_type != FAQ_FILE_TYPE
        )
        rows = await self._connection.execute(query.group_by(_c.folder).order_by(_c.folder))
        return {row.folder: row.knowledge_count for row in rows}

    async def by_hash(self, scope: Scope, base_id: str, file_hash: str) -> Document | None:
        query = sa.select(documents).where(
            _c.base_id == base_id, _c.file_hash == file_hash, _LIVE, of_bases(documents, scope)
        )
        row = (await self._connection.execute(query)).one_or_none()
        return None if row is None else _to_document(row)

    async def by_source(self, scope: Scope, base_id: str, prefix: str) -> list[Document]:
        query = (
            sa.select(documents)
            .where(_c.base_id == base_id, _LIVE, of_documents(scope), _starts_with(prefix))
            .order_by(_c.source, _c.document_id)
        )
        return [_to_document(row) for row in await self._connection.execute(query)]

    async def browse(
        self,
        scope: Scope,
        page: Page,
        *,
        status: ParseStatus | None = None,
        name: str = "",
        source_prefix: str = "",
        folder: str | None = None,
    ) -> Listed[Document]:
        parts = [of_documents(scope), _LIVE, _c.file_type != FAQ_FILE_TYPE]
        if status is not None:
            parts.append(_c.parse_status == status.value)
        if name:
            parts.append(position(_c.name_folded, folded(name)) > 0)
        if source_prefix:
            parts.append(_starts_with(source_prefix))
        if folder is not None:
            parts.append(_is_within(folder))
        total = await self._connection.scalar(sa.select(sa.func.count()).select_from(documents).where(*parts))
        order = (_c.created_at.desc(), _c.document_id.desc())
        query = sa.select(documents).where(*parts).order_by(*order).limit(page.page_size).offset(page.offset)
        rows = await self._connection.execute(query)
        return Listed(items=tuple(_to_document(row) for row in rows), total=total or 0)

    async def update(self, scope: Scope, document: Document) -> None:
        values = {name: value for name, value in _to_row(document).items() if name not in _FIXED}
        query = sa.update(documents).where(_c.document_id == document.document_id, of_bases(documents, scope))
        try:
            changed = (await self._connection.execute(query.values(**values))).rowcount
        except IntegrityError as error:
            message = "The knowledge base holds a document of the same bytes already."
            raise Conflict(message, details={"file_hash": document.file_hash}) from error
        if not changed:
            raise _absent(document.document_id)

    async def move(self, scope: Scope, document: Document) -> None:
        owner = scope.owner_of(document.base_id)
        same = await self.by_hash(scope, document.base_id, document.file_hash)
        if same is not None:
            raise await self._conflict(scope, document)
        for table in (documents, chunks, chunk_revisions, enrichments, document_steps):
            mine = (table.c.document_id == document.document_id, of_bases(table, scope))
            await self._connection.execute(sa.update(table).where(*mine).values(base_id=document.base_id))
        left = (strays.c.document_id == document.document_id, of_bases(strays, scope))
        await self._connection.execute(sa.delete(strays).where(*left))
        waits = (work.c.subject == document.document_id, work.c.kind != WorkKind.LEAVE_BASE.value)
        moved = sa.update(work).where(*waits, work.c.tenant_id == owner).values(base_id=document.base_id)
        await self._connection.execute(moved)

    async def delete(self, scope: Scope, document_id: str) -> None:
        await self._connection.execute(
            sa.delete(strays).where(strays.c.document_id == document_id, of_bases(strays, scope))
        )
        await self._connection.execute(
            sa.delete(documents).where(_c.document_id == document_id, of_bases(documents, scope))
        )

    async def _conflict(self, scope: Scope, document: Document) -> Conflict:
        same = await self.by_hash(scope, document.base_id, document.file_hash)
        return Conflict(
            "The knowledge base holds these bytes already.",
            hint="The existing document is named in the details.",
            details={"document_id": same.document_id if same else document.document_id},
        )


_FIXED = frozenset({"document_id", "base_id", "tenant_id", "created_at"})


def _starts_with(prefix: str) -> Condition:
    if not prefix:
        return _c.source != ""
    return sa.func.substr(_c.source, 1, len(prefix)) == prefix


def _is_within(folder: str) -> Condition:
    if not folder:
        return sa.true()
    inside = folder + "/"
    return sa.or_(_c.folder == folder, sa.func.substr(_c.folder, 1, len(inside)) == inside)


def _absent(document_id: str) -> NotFound:
    return NotFound("There is no such document.", details={"document_id": document_id})


def _to_row(document: Document) -> dict[str, Any]:
    return {
        "document_id": document.document_id,
        "base_id": document.base_id,
        "tenant_id": document.tenant_id,
        "title": document.title,
        "file_name": document.file_name,
        "name_folded": folded(document.title, document.file_name),
        "file_type": document.file_type,
        "file_size": document.file_size,
        "file_hash": document.file_hash,
        "source": document.source,
        "folder": document.folder,
        "origin": document.origin.value,
        "parse_status": document.parse_status.value,
        "error_reason": document.error_reason,
        "error_message": document.error_message,
        "enabled": document.enabled,
        "description": document.description,
        "metadata": dump(document.metadata),
        "file_metadata": dump(document.file_metadata),
        "tag_ids": dump_tags(document.tag_ids),
        "version": document.version,
        "indexed_version": document.indexed_version,
        "chunk_count": document.chunk_count,
        "embedded_count": document.embedded_count,
        "created_at": document.created_at,
        "updated_at": document.updated_at,
    }


def _to_document(row: sa.Row[Any]) -> Document:
    return Document(
        document_id=row.document_id,
        base_id=row.base_id,
        tenant_id=row.tenant_id,
        title=row.title,
        file_name=row.file_name,
        file_type=row.file_type,
        file_size=row.file_size,
        file_hash=row.file_hash,
        source=row.source,
        folder=row.folder,
        origin=Origin(row.origin),
        parse_status=ParseStatus(row.parse_status),
        error_reason=row.error_reason,
        error_message=row.error_message,
        enabled=row.enabled,
        description=row.description,
        metadata=load_mapping(row.metadata),
        file_metadata=load_mapping(row.file_metadata),
        tag_ids=load_tags(row.tag_ids),
        version=row.version,
        indexed_version=row.indexed_version,
        chunk_count=row.chunk_count,
        embedded_count=row.embedded_count,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
