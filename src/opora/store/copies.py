"""Copies of knowledge bases, with their progress, in the relational store."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from opora.domain.bases import BaseCopy, CopyStatus
from opora.domain.errors import NotFound
from opora.domain.scope import Scope
from opora.store.connection import Connection
from opora.store.tables import base_copies

_c = base_copies.c


class SqlCopies:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def add(self, task: BaseCopy) -> None:
        await self._connection.execute(sa.insert(base_copies).values(**_to_row(task)))

    async def get(self, scope: Scope, task_id: str) -> BaseCopy:
        query = sa.select(base_copies).where(_c.task_id == task_id, _c.tenant_id == scope.tenant_id)
        row = (await self._connection.execute(query)).one_or_none()
        if row is None:
            raise NotFound("There is no such copy.", details={"task_id": task_id})
        return _to_copy(row)

    async def update(self, scope: Scope, task: BaseCopy) -> None:
        query = sa.update(base_copies).where(_c.task_id == task.task_id, _c.tenant_id == scope.tenant_id)
        await self._connection.execute(query.values(**_to_row(task)))


def _to_row(task: BaseCopy) -> dict[str, Any]:
    return {
        "task_id": task.task_id,
        "tenant_id": task.tenant_id,
        "source_id": task.source_id,
        "target_id": task.target_id,
        "status": task.status.value,
        "total": task.total,
        "done": task.done,
        "error": task.error,
        "created_at": task.created_at,
        "updated_at": task.updated_at,
    }


def _to_copy(row: sa.Row[Any]) -> BaseCopy:
    return BaseCopy(
        task_id=row.task_id,
        tenant_id=row.tenant_id,
        source_id=row.source_id,
        target_id=row.target_id,
        status=CopyStatus(row.status),
        total=row.total,
        done=row.done,
        error=row.error,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
