"""The hot path of search: chunk ids to results with text and titles, by one prepared statement.

On SQLite the statement goes to the driver directly, in one hop to its thread; building results through SQLAlchemy
rows costs more than the query itself. Other databases take the same statement through SQLAlchemy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import sqlalchemy as sa

from opora.domain.knowledge import ChunkType
from opora.domain.scope import Scope
from opora.domain.search import DOCUMENT_DESCRIPTION, SearchResult
from opora.store.codec import dump, load_mapping, load_place, load_tags
from opora.store.connection import Connection
from opora.store.scoping import in_steps, of_chunks
from opora.store.tables import chunks, documents

_COLUMNS = (
    *("chunk_id", "base_id", "tenant_id", "document_id", "content", "context", "chunk_index", "chunk_type"),
    *("parent_chunk_id", "pre_chunk_id", "next_chunk_id", "place", "metadata", "tag_ids"),
)
_TYPES = {kind.value: kind for kind in ChunkType}


def _sqlite_text(pairs: int, include_disabled: bool) -> str:
    columns = ", ".join(f"c.{name}" for name in _COLUMNS)
    values = ", ".join(["(?, ?)"] * pairs)
    enabled = "" if include_disabled else " AND c.enabled AND d.enabled"
    return (
        f"SELECT {columns}, d.title, d.file_name, d.source, d.description"
        " FROM json_each(?) AS wanted"
        " CROSS JOIN chunks AS c ON c.chunk_id = wanted.value"
        " JOIN documents AS d ON d.document_id = c.document_id"
        f" WHERE (c.base_id, c.tenant_id) IN (VALUES {values}) AND c.chunk_type <> 'question'"
        f" AND d.parse_status <> 'deleting'{enabled}"
    )


async def hydrate(connection: Connection, scope: Scope, chunk_ids: Collection[str]) -> dict[str, SearchResult]:
    if not chunk_ids or not scope.bases:
        return {}
    rows: Iterable[Any]
    if connection.dialect.name == "sqlite":
        pairs = [part for base in scope.bases for part in (base.base_id, base.tenant_id)]
        query = _sqlite_text(len(scope.bases), scope.include_disabled)
        rows = await connection.fetch(query, (dump(list(chunk_ids)), *pairs))
    else:
        rows = await _portable(connection, scope, chunk_ids)
    return {result.chunk_id: result for row in rows if (result := _to_result(row, scope)) is not None}


async def _portable(connection: Connection, scope: Scope, chunk_ids: Collection[str]) -> list[Any]:
    columns = [chunks.c[name] for name in _COLUMNS]
    query = (
        sa.select(*columns, documents.c.title, documents.c.file_name, documents.c.source, documents.c.description)
        .join(documents, documents.c.document_id == chunks.c.document_id)
        .where(of_chunks(scope), documents.c.parse_status != "deleting", chunks.c.chunk_type != "question")
    )
    if not scope.include_disabled:
        query = query.where(documents.c.enabled)
    rows: list[Any] = []
    for step in in_steps(chunk_ids):
        rows += (await connection.execute(query.where(chunks.c.chunk_id.in_(step)))).all()
    return rows


def _to_result(row: Any, scope: Scope) -> SearchResult | None:
    (
        chunk_id,
        base_id,
        tenant_id,
        document_id,
        content,
        context,
        chunk_index,
        chunk_type,
        parent_chunk_id,
        pre_chunk_id,
        next_chunk_id,
        place,
        metadata,
        tag_ids,
        title,
        file_name,
        source,
        description,
    ) = row
    if scope.document_ids is not None and document_id not in scope.document_ids:
        return None
    if scope.tag_ids is not None and scope.tag_ids.isdisjoint(load_tags(tag_ids)):
        return None
    return SearchResult(
        chunk_id=chunk_id,
        base_id=base_id,
        tenant_id=tenant_id,
        document_id=document_id,
        content=content,
        context=context,
        title=title,
        file_name=file_name,
        source=source,
        chunk_index=chunk_index,
        chunk_type=_TYPES[chunk_type],
        parent_chunk_id=parent_chunk_id,
        pre_chunk_id=pre_chunk_id,
        next_chunk_id=next_chunk_id,
        place=load_place(place),
        metadata=_with_description(load_mapping(metadata), description),
    )


def _with_description(metadata: Mapping[str, Any], description: str) -> Mapping[str, Any]:
    """What a document is about goes to the prompt with its passages."""
    return {**metadata, DOCUMENT_DESCRIPTION: description} if description else metadata
