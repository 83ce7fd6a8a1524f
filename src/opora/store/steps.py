"""Steps of documents' processing in the relational store: the last ones, added by attempt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from opora.domain.scope import Scope
from opora.domain.steps import KEPT_ATTEMPTS, KEPT_STEPS, Step, StepName
from opora.store.codec import dump, load_mapping
from opora.store.connection import Connection
from opora.store.scoping import of_bases
from opora.store.tables import document_steps, documents

_c = document_steps.c


class SqlSteps:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def add(self, scope: Scope, document_id: str, steps: Sequence[Step], *, is_attempt: bool) -> None:
        query = sa.select(documents.c.base_id, documents.c.tenant_id).where(
            documents.c.document_id == document_id, of_bases(documents, scope)
        )
        owner = (await self._connection.execute(query)).one_or_none()
        if owner is None or not steps:
            return
        last = await self._connection.scalar(sa.select(sa.func.max(_c.attempt)).where(_c.document_id == document_id))
        attempt = (last or 0) + 1 if is_attempt or last is None else last
        common = {"base_id": owner.base_id, "tenant_id": owner.tenant_id, "attempt": attempt}
        await self._connection.execute(sa.insert(document_steps), [_to_row(step) | common for step in steps])
        await self._forget(document_id, attempt)

    async def of_document(self, scope: Scope, document_id: str) -> list[Step]:
        query = sa.select(document_steps).where(_c.document_id == document_id, of_bases(document_steps, scope))
        rows = await self._connection.execute(query.order_by(_c.attempt, _c.started_at, _c.step_id))
        return [_to_step(row) for row in rows]

    async def _forget(self, document_id: str, attempt: int) -> None:
        mine = _c.document_id == document_id
        await self._connection.execute(sa.delete(document_steps).where(mine, _c.attempt <= attempt - KEPT_ATTEMPTS))
        newest = sa.select(_c.step_id).where(mine).order_by(_c.attempt.desc(), _c.started_at.desc(), _c.step_id.desc())
        too_many = list(await self._connection.scalars(newest.offset(KEPT_STEPS).limit(KEPT_STEPS)))
        for step_id in too_many:
            await self._connection.execute(sa.delete(document_steps).where(_c.step_id == step_id))


def _to_row(step: Step) -> dict[str, Any]:
    return {
        "step_id": step.step_id,
        "document_id": step.document_id,
        "name": step.name.value,
        "microseconds": step.microseconds,
        "counts": dump(step.counts),
        "error": step.error,
        "started_at": step.started_at,
    }


def _to_step(row: sa.Row[Any]) -> Step:
    return Step(
        step_id=row.step_id,
        document_id=row.document_id,
        name=StepName(row.name),
        attempt=row.attempt,
        started_at=row.started_at,
        microseconds=row.microseconds,
        counts=load_mapping(row.counts),
        error=row.error,
    )
