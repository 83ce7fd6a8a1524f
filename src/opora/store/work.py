"""The queue of work in the relational store: rows with leases, added in the transaction that made them necessary."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from opora.domain.knowledge import ParseReason, ParseStatus
from opora.domain.work import Work, WorkKind
from opora.ports import NewId
from opora.store.connection import Connection
from opora.store.scoping import Condition
from opora.store.tables import documents, work
from opora.store.types import insert_into

_c = work.c
_WAITS: Condition = _c.lease_owner == ""


class SqlWork:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def add(self, work_: Work) -> None:
        await self._insert([_to_row(work_)])

    async def lease(
        self, owner: str, now: datetime, until: datetime, kinds: Collection[WorkKind] | None = None
    ) -> Work | None:
        query = sa.select(work).where(_c.not_before <= now, sa.or_(_WAITS, _c.lease_until <= now), *_alone(now))
        if kinds is not None:
            query = query.where(_c.kind.in_(sorted(kind.value for kind in kinds)))
        query = query.order_by(_c.created_at, _c.work_id).limit(1).with_for_update(skip_locked=True)
        row = (await self._connection.execute(query)).one_or_none()
        if row is None:
            return None
        taken = sa.update(work).where(_c.work_id == row.work_id).values(lease_owner=owner, lease_until=until)
        await self._connection.execute(taken)
        return _to_work(row, owner, until)

    async def extend(self, work_id: str, owner: str, until: datetime) -> bool:
        query = sa.update(work).where(_c.work_id == work_id, _c.lease_owner == owner).values(lease_until=until)
        return (await self._connection.execute(query)).rowcount == 1

    async def finish(self, work_id: str) -> None:
        await self._connection.execute(sa.delete(work).where(_c.work_id == work_id))

    async def retry(self, work_id: str, not_before: datetime, error: str) -> None:
        await self._drop_doubles(_c.work_id == work_id)
        query = sa.update(work).where(_c.work_id == work_id)
        free = {"lease_owner": "", "lease_until": None, "not_before": not_before, "error": error}
        await self._connection.execute(query.values(attempts=_c.attempts + 1, **free))

    async def release_all(self) -> None:
        await self._drop_doubles(sa.true())
        await self._connection.execute(sa.update(work).where(sa.not_(_WAITS)).values(lease_owner="", lease_until=None))

    async def cancel(self, kind: WorkKind, subject: str) -> None:
        await self._connection.execute(sa.delete(work).where(_c.kind == kind.value, _c.subject == subject, _WAITS))

    async def is_due(self, now: datetime) -> bool:
        waits = sa.select(sa.literal(1)).where(_WAITS, _c.not_before <= now, *_alone(now)).limit(1)
        return await self._connection.scalar(waits) is not None

    async def pending(self, tenant_id: str | None = None) -> int:
        query = sa.select(sa.func.count()).select_from(work)
        if tenant_id is not None:
            query = query.where(_c.tenant_id == tenant_id)
        return await self._connection.scalar(query) or 0

    async def waiting(self, subject: str) -> set[WorkKind]:
        rows = await self._connection.scalars(sa.select(_c.kind).where(_c.subject == subject))
        return {WorkKind(kind) for kind in rows}

    async def chunks_ahead(self, document_id: str) -> int | None:
        embed = _c.kind == WorkKind.EMBED.value
        place = sa.select(_c.created_at, _c.work_id).where(embed, _c.subject == document_id)
        own = (await self._connection.execute(place.order_by(_c.created_at).limit(1))).one_or_none()
        if own is None:
            return None
        earlier = sa.tuple_(_c.created_at, _c.work_id) <= sa.tuple_(own.created_at, own.work_id)
        left = sa.func.sum(documents.c.chunk_count - documents.c.embedded_count)
        query = sa.select(left).join(work, _c.subject == documents.c.document_id).where(embed, earlier)
        return int(await self._connection.scalar(query) or 0)

    async def add_for_documents(self, kind: WorkKind, now: datetime, new_id: NewId, base_id: str | None = None) -> int:
        d = documents.c
        chosen = [d.indexed_version > 0, d.parse_status != ParseStatus.DELETING.value]
        if base_id is not None:
            chosen.append(d.base_id == base_id)
        if kind is WorkKind.EMBED:
            chosen += [d.embedded_count < d.chunk_count, d.error_reason != ParseReason.CANCELLED.value]
        found = (await self._connection.execute(sa.select(d.document_id, d.base_id, d.tenant_id).where(*chosen))).all()
        rows = [Work.new(kind, row.document_id, of=row, work_id=new_id(), now=now) for row in found]
        await self._insert([_to_row(item) for item in rows])
        if kind not in (WorkKind.ENRICH, WorkKind.GRAPH):
            again = sa.update(documents).where(*chosen, d.parse_status == ParseStatus.COMPLETED.value)
            await self._connection.execute(again.values(parse_status=ParseStatus.PROCESSING.value))
        return len(rows)

    async def _insert(self, rows: list[dict[str, Any]]) -> None:
        if rows:
            insert = insert_into(self._connection, work)
            await self._connection.execute(
                insert.on_conflict_do_nothing(
                    index_elements=[_c.kind, _c.subject], index_where=sa.text("lease_owner = ''")
                ),
                rows,
            )

    async def _drop_doubles(self, which: Condition) -> None:
        """A held row that has a waiting twin is not needed again once it is let go."""
        twin = work.alias()
        waiting = sa.exists().where(twin.c.kind == _c.kind, twin.c.subject == _c.subject, twin.c.lease_owner == "")
        await self._connection.execute(sa.delete(work).where(which, sa.not_(_WAITS), waiting))


def _alone(now: datetime) -> tuple[Condition, ...]:
    """Nobody else works on the same subject; deleting a base goes alone in that base."""
    other = work.alias()
    held = sa.and_(other.c.lease_owner != "", other.c.lease_until > now, other.c.work_id != _c.work_id)
    deletes_base = WorkKind.DELETE_BASE.value
    same_subject = sa.exists().where(held, other.c.subject == _c.subject)
    same_base = sa.exists().where(held, other.c.base_id == _c.base_id)
    base_goes = sa.exists().where(held, other.c.base_id == _c.base_id, other.c.kind == deletes_base)
    return sa.not_(same_subject), sa.not_(base_goes), sa.or_(_c.kind != deletes_base, sa.not_(same_base))


def _to_row(item: Work) -> dict[str, Any]:
    return {
        "work_id": item.work_id,
        "kind": item.kind.value,
        "tenant_id": item.tenant_id,
        "base_id": item.base_id,
        "subject": item.subject,
        "aim": item.aim,
        "attempts": item.attempts,
        "not_before": item.not_before,
        "lease_owner": item.lease_owner,
        "lease_until": item.lease_until,
        "error": item.error,
        "created_at": item.created_at,
    }


def _to_work(row: sa.Row[Any], owner: str, until: datetime) -> Work:
    return Work(
        work_id=row.work_id,
        kind=WorkKind(row.kind),
        tenant_id=row.tenant_id,
        base_id=row.base_id,
        subject=row.subject,
        aim=row.aim,
        attempts=row.attempts,
        not_before=row.not_before,
        lease_owner=owner,
        lease_until=until,
        error=row.error,
        created_at=row.created_at,
    )
