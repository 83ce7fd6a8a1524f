"""Use cases on what the search engine holds of a base: how much it takes, whether it is right, mending it."""

from __future__ import annotations

from dataclasses import replace

from opora.domain.bases import BaseStatistics
from opora.domain.errors import NotFound
from opora.domain.scope import Scope
from opora.domain.work import Work, WorkKind
from opora.index.difference import Difference, difference
from opora.ports import Clock, Database, Jobs, NewId, SearchEngine


class BaseIndex:
    """Scopes hold the whole base, disabled chunks included."""

    def __init__(self, database: Database, engine: SearchEngine, jobs: Jobs, *, clock: Clock, new_id: NewId) -> None:
        self._database = database
        self._engine = engine
        self._jobs = jobs
        self._clock = clock
        self._new_id = new_id

    async def statistics(self, scope: Scope, base_id: str) -> BaseStatistics:
        async with self._database.read() as stored:
            found = await stored.bases.statistics(scope, base_id)
        return replace(found, storage_bytes=await self._engine.storage_bytes(scope, base_id))

    async def compare(self, scope: Scope, base_id: str) -> Difference:
        """What the engine holds against what the database says. While work is under way, they differ."""
        async with self._database.read() as stored:
            found = await stored.bases.find(scope.owner_of(base_id), [base_id])
        if not found:
            raise NotFound("There is no such knowledge base.", details={"base_id": base_id})
        return await difference(self._database, self._engine, scope, base_id, found[0].embedding_model_id or None)

    async def mend(self, scope: Scope, base_id: str) -> None:
        """Have a worker write again what is missing, and take out what belongs to nothing."""
        now = self._clock()
        work = Work(
            work_id=self._new_id(),
            kind=WorkKind.MEND_BASE,
            tenant_id=scope.owner_of(base_id),
            base_id=base_id,
            subject=base_id,
            not_before=now,
            created_at=now,
        )
        async with self._database.begin() as stored:
            await stored.work.add(work)
        self._jobs.wake()
