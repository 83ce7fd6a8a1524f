"""Tags in the relational store, and what has them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import sqlalchemy as sa

from opora.domain.errors import NotFound
from opora.domain.knowledge import ChunkType, ParseStatus
from opora.domain.scope import Scope
from opora.domain.tags import Tag, Tagged
from opora.store.codec import TAG_END, dump_tags, load_tags
from opora.store.connection import Connection
from opora.store.scoping import Condition, folded, in_steps, of_bases
from opora.store.tables import chunks, documents, tags
from opora.store.types import position

_c = tags.c


class SqlTags:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def add(self, scope: Scope, tag: Tag) -> None:
        scope.owner_of(tag.base_id)
        await self._connection.execute(sa.insert(tags).values(**_to_row(tag)))

    async def get(self, scope: Scope, tag_id: str) -> Tag:
        row = (
            await self._connection.execute(sa.select(tags).where(_c.tag_id == tag_id, of_bases(tags, scope)))
        ).one_or_none()
        if row is None:
            raise NotFound("There is no such tag.", details={"tag_id": tag_id})
        return _to_tag(row)

    async def by_name(self, scope: Scope, base_id: str, name: str) -> Tag | None:
        query = sa.select(tags).where(_c.base_id == base_id, _c.name_folded == folded(name), of_bases(tags, scope))
        row = (await self._connection.execute(query)).one_or_none()
        return None if row is None else _to_tag(row)

    async def known(self, scope: Scope, tag_ids: Collection[str]) -> set[str]:
        found: set[str] = set()
        for step in in_steps(tag_ids):
            query = sa.select(_c.tag_id).where(_c.tag_id.in_(step), of_bases(tags, scope))
            found |= set(await self._connection.scalars(query))
        return found

    async def browse(self, scope: Scope, base_id: str) -> list[Tagged]:
        query = sa.select(tags).where(_c.base_id == base_id, of_bases(tags, scope))
        found = [_to_tag(row) for row in await self._connection.execute(query.order_by(_c.position, _c.name_folded))]
        return [
            Tagged(
                tag=tag,
                documents=await self._count(documents, scope, tag, documents.c.parse_status != _GONE),
                entries=await self._count(chunks, scope, tag, chunks.c.chunk_type == ChunkType.FAQ.value),
            )
            for tag in found
        ]

    async def update(self, scope: Scope, tag: Tag) -> None:
        values = {name: value for name, value in _to_row(tag).items() if name not in _FIXED}
        query = sa.update(tags).where(_c.tag_id == tag.tag_id, of_bases(tags, scope))
        if (await self._connection.execute(query.values(**values))).rowcount == 0:
            raise NotFound("There is no such tag.", details={"tag_id": tag.tag_id})

    async def delete(self, scope: Scope, tag_id: str) -> None:
        await self._connection.execute(sa.delete(tags).where(_c.tag_id == tag_id, of_bases(tags, scope)))

    async def set_on_document(self, scope: Scope, document_id: str, tag_ids: tuple[str, ...]) -> dict[str, bool]:
        """The document and all its rows have these tags; returns the rows, and whether each is searched."""
        mine = (documents.c.document_id == document_id, of_bases(documents, scope))
        await self._connection.execute(sa.update(documents).where(*mine).values(tag_ids=dump_tags(tag_ids)))
        rows = (chunks.c.document_id == document_id, of_bases(chunks, scope))
        await self._connection.execute(sa.update(chunks).where(*rows).values(tag_ids=dump_tags(tag_ids)))
        found = await self._connection.execute(sa.select(chunks.c.chunk_id, chunks.c.is_searched).where(*rows))
        return {row.chunk_id: row.is_searched for row in found}

    async def take_off(self, scope: Scope, tag: Tag) -> tuple[dict[str, tuple[str, ...]], set[str]]:
        """Nothing has the tag any more; returns the tags that searched rows are left with, and their documents."""
        await self._rewrite(documents, scope, tag, documents.c.document_id)
        query = sa.select(chunks.c.chunk_id, chunks.c.document_id, chunks.c.is_searched).where(_has(chunks, scope, tag))
        rows = (await self._connection.execute(query)).all()
        left = await self._rewrite(chunks, scope, tag, chunks.c.chunk_id)
        searched = {row.chunk_id for row in rows if row.is_searched}
        return {key: ids for key, ids in left.items() if key in searched}, {row.document_id for row in rows}

    async def _rewrite(
        self, table: sa.Table, scope: Scope, tag: Tag, key: sa.Column[Any]
    ) -> Mapping[str, tuple[str, ...]]:
        query = sa.select(key, table.c.tag_ids).where(_has(table, scope, tag))
        found: list[Any] = list((await self._connection.execute(query)).all())
        left = {row_id: tuple(one for one in load_tags(had) if one != tag.tag_id) for row_id, had in found}
        by_tags: dict[tuple[str, ...], list[str]] = {}
        for row_id, tag_ids in left.items():
            by_tags.setdefault(tag_ids, []).append(row_id)
        for tag_ids, row_ids in by_tags.items():
            for step in in_steps(row_ids):
                await self._connection.execute(sa.update(table).where(key.in_(step)).values(tag_ids=dump_tags(tag_ids)))
        return left

    async def _count(self, table: sa.Table, scope: Scope, tag: Tag, which: Condition) -> int:
        query = sa.select(sa.func.count()).select_from(table).where(_has(table, scope, tag), which)
        return await self._connection.scalar(query) or 0


_FIXED = frozenset({"tag_id", "tenant_id", "base_id", "created_at"})
_GONE = ParseStatus.DELETING.value


def _has(table: sa.Table, scope: Scope, tag: Tag) -> Condition:
    mark = f"{TAG_END}{tag.tag_id}{TAG_END}"
    return sa.and_(of_bases(table, scope), table.c.base_id == tag.base_id, position(table.c.tag_ids, mark) > 0)


def _to_row(tag: Tag) -> dict[str, Any]:
    return {
        "tag_id": tag.tag_id,
        "tenant_id": tag.tenant_id,
        "base_id": tag.base_id,
        "name": tag.name,
        "name_folded": folded(tag.name),
        "color": tag.color,
        "position": tag.position,
        "created_at": tag.created_at,
        "updated_at": tag.updated_at,
    }


def _to_tag(row: sa.Row[Any]) -> Tag:
    return Tag(
        tag_id=row.tag_id,
        tenant_id=row.tenant_id,
        base_id=row.base_id,
        name=row.name,
        color=row.color,
        position=row.position,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
