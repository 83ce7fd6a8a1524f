"""The registry of models in the relational store: each tenant's own, keys apart and sealed."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from opora.domain.errors import Forbidden, NotFound
from opora.domain.models import ModelEntry, ModelKind
from opora.domain.scope import Scope
from opora.store.codec import dump, load_mapping
from opora.store.connection import Connection
from opora.store.tables import model_keys, models
from opora.store.types import insert_into

_c = models.c
_k = model_keys.c
_ENTRY = sa.select(models, _k.token.is_not(None).label("has_key")).outerjoin(model_keys, _k.model_id == _c.model_id)


class SqlModels:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def add(self, scope: Scope, entry: ModelEntry) -> None:
        if entry.tenant_id != scope.tenant_id:
            raise Forbidden("A model can only be kept for one's own tenant.", details={"model_id": entry.model_id})
        await self._connection.execute(sa.insert(models).values(**_to_row(entry)))

    async def get(self, scope: Scope, model_id: str) -> ModelEntry:
        query = _ENTRY.where(_c.model_id == model_id, _c.tenant_id == scope.tenant_id)
        row = (await self._connection.execute(query)).one_or_none()
        if row is None:
            raise _absent(model_id)
        return _to_entry(row)

    async def all(self, scope: Scope) -> list[ModelEntry]:
        query = _ENTRY.where(_c.tenant_id == scope.tenant_id).order_by(_c.created_at, _c.model_id)
        return [_to_entry(row) for row in await self._connection.execute(query)]

    async def update(self, scope: Scope, entry: ModelEntry) -> None:
        values = {name: value for name, value in _to_row(entry).items() if name not in _FIXED}
        query = sa.update(models).where(_c.model_id == entry.model_id, _c.tenant_id == scope.tenant_id)
        if (await self._connection.execute(query.values(**values))).rowcount == 0:
            raise _absent(entry.model_id)

    async def delete(self, scope: Scope, model_id: str) -> None:
        query = sa.delete(models).where(_c.model_id == model_id, _c.tenant_id == scope.tenant_id)
        if (await self._connection.execute(query)).rowcount == 0:
            raise _absent(model_id)

    async def sealed_key(self, scope: Scope, model_id: str) -> str:
        await self.get(scope, model_id)
        token: str | None = await self._connection.scalar(sa.select(_k.token).where(_k.model_id == model_id))
        return token or ""

    async def seal_key(self, scope: Scope, model_id: str, token: str) -> None:
        await self.get(scope, model_id)
        if not token:
            await self._connection.execute(sa.delete(model_keys).where(_k.model_id == model_id))
            return
        insert = insert_into(self._connection, model_keys).values(model_id=model_id, token=token)
        await self._connection.execute(
            insert.on_conflict_do_update(index_elements=[_k.model_id], set_={"token": token})
        )


_FIXED = frozenset({"model_id", "tenant_id", "kind", "created_at"})


def _absent(model_id: str) -> NotFound:
    return NotFound("There is no such model.", details={"model_id": model_id})


def _to_row(entry: ModelEntry) -> dict[str, Any]:
    return {
        "model_id": entry.model_id,
        "tenant_id": entry.tenant_id,
        "kind": entry.kind.value,
        "provider": entry.provider,
        "name": entry.name,
        "model": entry.model,
        "base_url": entry.base_url,
        "options": dump(dict(entry.options)),
        "dimension": entry.dimension,
        "created_at": entry.created_at,
        "updated_at": entry.updated_at,
    }


def _to_entry(row: sa.Row[Any]) -> ModelEntry:
    return ModelEntry(
        model_id=row.model_id,
        tenant_id=row.tenant_id,
        kind=ModelKind(row.kind),
        provider=row.provider,
        name=row.name,
        model=row.model,
        base_url=row.base_url,
        options=load_mapping(row.options),
        has_key=bool(row.has_key),
        dimension=row.dimension,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
