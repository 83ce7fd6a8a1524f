"""Takes up an import of FAQ entries: a hundred rows a transaction, or all of them in one where they replace the rest.

Rows leave the waiting table in the transaction that keeps their entries: after a crash none is lost and none doubled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from opora.domain.errors import NotFound
from opora.domain.faq_import import FaqImport, ImportMode, ImportStatus
from opora.domain.knowledge import KnowledgeBase
from opora.domain.scope import Scope
from opora.domain.work import Work
from opora.index.faq import FaqWriter
from opora.index.faq_import import ALL, append, replace_all, rows_of
from opora.jobs.ground import Ground
from opora.ports import Repositories


async def import_faq(ground: Ground, work: Work, wake: Callable[[], None]) -> None:
    """``wake`` is called after each step, so that what came in is embedded while the rest comes in."""
    scope = ground.scope_of(work.tenant_id, work.base_id)
    while not await _step(ground, work, scope, await _model(ground, work)):
        wake()


async def _model(ground: Ground, work: Work) -> str | None:
    """The identity of the base's embedding model."""
    async with ground.database.read() as stored:
        bases = await stored.bases.find(work.tenant_id, [work.base_id])
    embedder = await ground.embedders.of(bases[0]) if bases else None
    return None if embedder is None else embedder.card.identity


async def _step(ground: Ground, work: Work, scope: Scope, model: str | None) -> bool:
    """One transaction; True when nothing is left to do."""
    async with ground.database.begin() as stored:
        await ground.hold(stored, work)
        bases = await stored.bases.find(work.tenant_id, [work.base_id])
        task = await _task(stored, scope, work.subject)
        if task is None or not bases or task.status in (ImportStatus.COMPLETED, ImportStatus.FAILED):
            await stored.work.finish(work.work_id)
            return True
        whole = task.mode is ImportMode.REPLACE
        batches = await stored.faq.next_batches(task.task_id, limit=ALL if whole else 1)
        rows = [row for _, text in batches for row in rows_of(text)]
        task = replace(task, status=ImportStatus.PROCESSING, done=task.done + len(rows), updated_at=ground.clock())
        writer = _writer(ground, stored, scope, bases[0], model)
        if whole:
            await replace_all(writer, rows)
            task = replace(task, added=len(rows))
        elif rows:
            problems = await append(writer, rows)
            task = replace(task, added=task.added + len(rows) - len(problems), problems=(*task.problems, *problems))
        await stored.faq.drop_batches(task.task_id, [number for number, _ in batches])
        is_last = whole or task.done >= task.total or not rows
        if is_last:
            await stored.work.finish(work.work_id)
            task = replace(task, status=ImportStatus.COMPLETED)
        await stored.faq.update_import(scope, task)
    return is_last


def _writer(ground: Ground, stored: Repositories, scope: Scope, base: KnowledgeBase, model: str | None) -> FaqWriter:
    return FaqWriter(stored=stored, scope=scope, base=base, model=model, now=ground.clock(), new_id=ground.new_id)


async def _task(stored: Repositories, scope: Scope, task_id: str) -> FaqImport | None:
    try:
        return await stored.faq.get_import(scope, task_id)
    except NotFound:
        return None
