"""Long-term memory in the relational store: a user sees and changes their own."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from opora.domain.errors import Forbidden, NotFound
from opora.domain.memory import MemoryItem
from opora.domain.scope import Scope
from opora.ports import Listed, Page
from opora.store.connection import Connection
from opora.store.scoping import Condition
from opora.store.tables import memory_items, memory_settings
from opora.store.types import insert_into

_c = memory_items.c
_s = memory_settings.c


class SqlMemory:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def enabled(self, scope: Scope) -> bool:
        chosen: bool | None = await self._connection.scalar(
            sa.select(_s.enabled).where(_s.tenant_id == scope.tenant_id, _s.user_id == scope.principal.user_id)
        )
        return True if chosen is None else chosen

    async def enable(self, scope: Scope, enabled: bool) -> None:
        insert = insert_into(self._connection, memory_settings).values(
            tenant_id=scope.tenant_id, user_id=scope.principal.user_id, enabled=enabled
        )
        await self._connection.execute(
            insert.on_conflict_do_update(index_elements=[_s.tenant_id, _s.user_id], set_={"enabled": enabled})
        )

    async def add(self, scope: Scope, item: MemoryItem) -> None:
        if (item.tenant_id, item.user_id) != (scope.tenant_id, scope.principal.user_id):
            raise Forbidden("One can only remember for oneself.", details={"item_id": item.item_id})
        await self._connection.execute(sa.insert(memory_items).values(**_to_row(item)))

    async def get(self, scope: Scope, item_id: str) -> MemoryItem:
        query = sa.select(memory_items).where(_c.item_id == item_id, _own(scope))
        row = (await self._connection.execute(query)).one_or_none()
        if row is None:
            raise _absent(item_id)
        return _to_item(row)

    async def count(self, scope: Scope) -> int:
        query = sa.select(sa.func.count()).select_from(memory_items).where(_own(scope))
        return await self._connection.scalar(query) or 0

    async def all(self, scope: Scope) -> list[MemoryItem]:
        query = sa.select(memory_items).where(_own(scope)).order_by(*_NEWEST)
        return [_to_item(row) for row in await self._connection.execute(query)]

    async def browse(self, scope: Scope, page: Page) -> Listed[MemoryItem]:
        query = sa.select(memory_items).where(_own(scope)).order_by(*_NEWEST)
        rows = await self._connection.execute(query.limit(page.page_size).offset(page.offset))
        return Listed(items=tuple(_to_item(row) for row in rows), total=await self.count(scope))

    async def update(self, scope: Scope, item: MemoryItem) -> None:
        query = sa.update(memory_items).where(_c.item_id == item.item_id, _own(scope))
        changes = {"content": item.content, "is_always": item.always, "updated_at": item.updated_at}
        if (await self._connection.execute(query.values(**changes))).rowcount == 0:
            raise _absent(item.item_id)

    async def delete(self, scope: Scope, item_id: str) -> None:
        query = sa.delete(memory_items).where(_c.item_id == item_id, _own(scope))
        if (await self._connection.execute(query)).rowcount == 0:
            raise _absent(item_id)

    async def clear(self, scope: Scope) -> int:
        return (await self._connection.execute(sa.delete(memory_items).where(_own(scope)))).rowcount


_NEWEST = (_c.created_at.desc(), _c.item_id.desc())


def _own(scope: Scope) -> Condition:
    return sa.and_(_c.tenant_id == scope.tenant_id, _c.user_id == scope.principal.user_id)


def _absent(item_id: str) -> NotFound:
    return NotFound("Nothing is remembered under this id.", details={"item_id": item_id})


def _to_row(item: MemoryItem) -> dict[str, Any]:
    return {
        "item_id": item.item_id,
        "tenant_id": item.tenant_id,
        "user_id": item.user_id,
        "content": item.content,
        "is_always": item.always,
        "created_at": item.created_at,
        "updated_at": item.updated_at,
    }


def _to_item(row: sa.Row[Any]) -> MemoryItem:
    return MemoryItem(
        item_id=row.item_id,
        tenant_id=row.tenant_id,
        user_id=row.user_id,
        content=row.content,
        always=row.is_always,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
