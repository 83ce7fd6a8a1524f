"""FAQ entries and their imports in the relational store."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa

from opora.domain.codec import build, plain
from opora.domain.errors import NotFound
from opora.domain.faq import FaqEntry
from opora.domain.faq_entry import FaqDraft, FaqRecord
from opora.domain.faq_import import FaqImport, ImportMode, ImportStatus, RowProblem
from opora.domain.scope import Scope
from opora.ports import Listed, Page
from opora.store.codec import TAG_END, dump, load_mapping, load_tags
from opora.store.connection import Connection
from opora.store.scoping import folded, in_steps, of_bases
from opora.store.tables import chunks, documents, faq_entries, faq_import_batches, faq_imports, faq_questions
from opora.store.tables import faq_sequences as sequences
from opora.store.types import insert_into, position

_e, _q, _i, _b = faq_entries.c, faq_questions.c, faq_imports.c, faq_import_batches.c
WRITE_STEP = 1000


class SqlFaq:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def number(self, scope: Scope, base_id: str, count: int) -> int:
        scope.owner_of(base_id)
        insert = insert_into(self._connection, sequences).values(base_id=base_id, last_seq_id=count)
        grown = insert.on_conflict_do_update(
            index_elements=[sequences.c.base_id], set_={"last_seq_id": sequences.c.last_seq_id + count}
        )
        await self._connection.execute(grown)
        query = sa.select(sequences.c.last_seq_id).where(sequences.c.base_id == base_id)
        last: int = await self._connection.scalar(query) or count
        return last - count + 1

    async def put(self, scope: Scope, records: Sequence[FaqRecord]) -> None:
        insert = insert_into(self._connection, faq_entries)
        changed = {name: insert.excluded[name] for name in ("is_recommended", "text_folded", "updated_at")}
        upsert = insert.on_conflict_do_update(index_elements=[_e.chunk_id], set_=changed)
        for start in range(0, len(records), WRITE_STEP):
            step = records[start : start + WRITE_STEP]
            await self._connection.execute(upsert, [_to_row(record) for record in step])
            questions = [
                {"base_id": record.base_id, "question_hash": mark, "chunk_id": record.entry_id}
                for record in step
                for mark in record.draft.hashes
            ]
            await self._connection.execute(sa.insert(faq_questions), questions)

    async def release(self, scope: Scope, entry_ids: Collection[str]) -> None:
        for step in in_steps(entry_ids):
            mine = (_q.chunk_id.in_(step), _q.base_id.in_(scope.base_ids))
            await self._connection.execute(sa.delete(faq_questions).where(*mine))

    async def holders(self, scope: Scope, base_id: str, hashes: Collection[str]) -> dict[str, str]:
        scope.owner_of(base_id)
        found: dict[str, str] = {}
        for step in in_steps(hashes):
            query = sa.select(_q.question_hash, _q.chunk_id).where(_q.base_id == base_id, _q.question_hash.in_(step))
            found |= {row.question_hash: row.chunk_id for row in await self._connection.execute(query)}
        return found

    async def get_many(
        self, scope: Scope, base_id: str, *, entry_ids: Collection[str] = (), seq_ids: Collection[int] = ()
    ) -> list[FaqRecord]:
        found: list[FaqRecord] = []
        for step in in_steps(entry_ids):
            found += await self._records(_query(scope, base_id).where(_e.chunk_id.in_(step)))
        if seq_ids:
            found += await self._records(_query(scope, base_id).where(_e.seq_id.in_(sorted(seq_ids))))
        return sorted({one.entry_id: one for one in found}.values(), key=lambda one: one.seq_id)

    async def browse(
        self,
        scope: Scope,
        base_id: str,
        page: Page,
        *,
        tag_id: str = "",
        is_enabled: bool | None = None,
        is_recommended: bool | None = None,
        keyword: str = "",
    ) -> Listed[FaqRecord]:
        query = _query(scope, base_id)
        if tag_id:
            query = query.where(position(chunks.c.tag_ids, f"{TAG_END}{tag_id}{TAG_END}") > 0)
        if is_enabled is not None:
            query = query.where(chunks.c.enabled == is_enabled)
        if is_recommended is not None:
            query = query.where(_e.is_recommended == is_recommended)
        if keyword.strip():
            query = query.where(position(_e.text_folded, folded(keyword.strip())) > 0)
        total = await self._connection.scalar(sa.select(sa.func.count()).select_from(query.subquery()))
        found = await self._records(query.order_by(_e.seq_id).limit(page.page_size).offset(page.offset))
        return Listed(items=tuple(found), total=total or 0)

    async def _records(self, query: sa.Select[Any]) -> list[FaqRecord]:
        return [_to_record(row) for row in await self._connection.execute(query)]

    async def add_import(self, scope: Scope, task: FaqImport, batches: Sequence[str]) -> None:
        scope.owner_of(task.base_id)
        await self._connection.execute(sa.insert(faq_imports).values(**_task_row(task)))
        rows = [{"task_id": task.task_id, "number": number, "rows": text} for number, text in enumerate(batches)]
        if rows:
            await self._connection.execute(sa.insert(faq_import_batches), rows)

    async def import_base(self, tenant_id: str, task_id: str) -> str:
        query = sa.select(_i.base_id).where(_i.tenant_id == tenant_id, _i.task_id == task_id)
        base_id: str | None = await self._connection.scalar(query)
        if base_id is None:
            raise _no_import(task_id)
        return base_id

    async def get_import(self, scope: Scope, task_id: str) -> FaqImport:
        query = sa.select(faq_imports).where(_i.task_id == task_id, of_bases(faq_imports, scope))
        row = (await self._connection.execute(query)).one_or_none()
        if row is None:
            raise _no_import(task_id)
        return _to_task(row)

    async def update_import(self, scope: Scope, task: FaqImport) -> None:
        mine = (_i.task_id == task.task_id, of_bases(faq_imports, scope))
        await self._connection.execute(sa.update(faq_imports).where(*mine).values(**_task_row(task)))

    async def next_batches(self, task_id: str, *, limit: int) -> list[tuple[int, str]]:
        query = sa.select(_b.number, _b.rows).where(_b.task_id == task_id).order_by(_b.number).limit(limit)
        return [(row.number, row.rows) for row in await self._connection.execute(query)]

    async def drop_batches(self, task_id: str, numbers: Collection[int]) -> None:
        mine = (_b.task_id == task_id, _b.number.in_(sorted(numbers)))
        await self._connection.execute(sa.delete(faq_import_batches).where(*mine))


def _query(scope: Scope, base_id: str) -> sa.Select[Any]:
    """Disabled entries too: they are kept, and only not found."""
    scope.owner_of(base_id)
    columns = (chunks.c.tenant_id, chunks.c.document_id, chunks.c.enabled, chunks.c.tag_ids, chunks.c.metadata)
    query = sa.select(faq_entries, *columns).join(chunks, chunks.c.chunk_id == _e.chunk_id)
    return query.join(documents, documents.c.document_id == chunks.c.document_id).where(
        chunks.c.base_id == base_id, of_bases(chunks, scope), documents.c.parse_status != "deleting"
    )


def _to_row(record: FaqRecord) -> dict[str, Any]:
    entry = record.draft.entry
    return {
        "chunk_id": record.entry_id,
        "base_id": record.base_id,
        "seq_id": record.seq_id,
        "is_recommended": record.draft.is_recommended,
        "text_folded": folded(entry.standard_question, *entry.similar_questions, *entry.answers),
        "created_at": record.created_at,
        "updated_at": record.updated_at,
    }


def _to_record(row: Any) -> FaqRecord:
    draft = FaqDraft(
        entry=FaqEntry.read(load_mapping(row.metadata)) or FaqEntry(),
        is_enabled=row.enabled,
        is_recommended=row.is_recommended,
        tag_ids=load_tags(row.tag_ids),
    )
    return FaqRecord(
        entry_id=row.chunk_id,
        seq_id=row.seq_id,
        base_id=row.base_id,
        tenant_id=row.tenant_id,
        document_id=row.document_id,
        draft=draft,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _task_row(task: FaqImport) -> dict[str, Any]:
    values = {name: getattr(task, name) for name in ("task_id", "tenant_id", "base_id", "total", "done", "added")}
    return {
        **values,
        "mode": task.mode.value,
        "status": task.status.value,
        "problems": dump([plain(problem) for problem in task.problems]),
        "error": task.error,
        "created_at": task.created_at,
        "updated_at": task.updated_at,
    }


def _to_task(row: Any) -> FaqImport:
    return FaqImport(
        task_id=row.task_id,
        tenant_id=row.tenant_id,
        base_id=row.base_id,
        mode=ImportMode(row.mode),
        status=ImportStatus(row.status),
        total=row.total,
        done=row.done,
        added=row.added,
        problems=tuple(build(RowProblem, one) for one in json.loads(row.problems)) if row.problems else (),
        error=row.error,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _no_import(task_id: str) -> NotFound:
    return NotFound("There is no such import.", details={"task_id": task_id})
