"""Use cases on copies of whole knowledge bases: begin one, and see how far it is."""

from __future__ import annotations

from dataclasses import replace

from opora.domain.bases import BaseCopy
from opora.domain.errors import NotFound
from opora.domain.scope import Scope
from opora.domain.work import Work, WorkKind
from opora.knowledge.base_names import check_name, checked_name, free_name
from opora.ports import Clock, Database, Jobs, NewId


class BaseCopies:
    def __init__(self, database: Database, jobs: Jobs, *, clock: Clock, new_id: NewId) -> None:
        self._database = database
        self._jobs = jobs
        self._clock = clock
        self._new_id = new_id

    async def start(self, scope: Scope, source_id: str, *, name: str | None = None) -> BaseCopy:
        """Make the hidden target, whose name is taken from now on, and leave the rest to a worker.

        Raises `Conflict` with ``details['base_id']`` for a name that another base has.
        """
        now = self._clock()
        async with self._database.begin() as stored:
            found = await stored.bases.find(scope.owner_of(source_id), [source_id])
            if not found:
                raise NotFound("There is no such knowledge base.", details={"base_id": source_id})
            source = found[0]
            target = replace(
                source,
                base_id=self._new_id(),
                name=await free_name(stored, source.tenant_id, source.name) if name is None else checked_name(name),
                is_pinned=False,
                created_at=now,
                updated_at=now,
            )
            await check_name(stored, target)
            task = BaseCopy(
                task_id=self._new_id(),
                tenant_id=source.tenant_id,
                source_id=source_id,
                target_id=target.base_id,
                created_at=now,
                updated_at=now,
            )
            await stored.bases.add(target, is_hidden=True)
            await stored.copies.add(task)
            await stored.work.add(self._work(task))
        self._jobs.wake()
        return task

    async def get(self, scope: Scope, task_id: str) -> BaseCopy:
        async with self._database.read() as stored:
            return await stored.copies.get(scope, task_id)

    def _work(self, task: BaseCopy) -> Work:
        return Work(
            work_id=self._new_id(),
            kind=WorkKind.COPY_BASE,
            tenant_id=task.tenant_id,
            base_id=task.target_id,
            subject=task.task_id,
            not_before=task.created_at,
            created_at=task.created_at,
        )
