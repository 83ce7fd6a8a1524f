"""Use cases on the chunks of a document."""

from __future__ import annotations

import logging
from dataclasses import replace

from opora.domain.errors import EngineError, NotFound
from opora.domain.knowledge import Chunk
from opora.domain.scope import Scope
from opora.domain.work import Work, WorkKind
from opora.ports import Clock, Database, Jobs, Listed, NewId, Page, SearchEngine

log = logging.getLogger(__name__)


class Chunks:
    def __init__(self, database: Database, engine: SearchEngine, jobs: Jobs, *, clock: Clock, new_id: NewId) -> None:
        self._database = database
        self._engine = engine
        self._jobs = jobs
        self._clock = clock
        self._new_id = new_id

    async def browse(self, scope: Scope, document_id: str, page: Page) -> Listed[Chunk]:
        async with self._database.read() as stored:
            await stored.documents.get(scope, document_id)
            return await stored.chunks.browse(scope, document_id, page)

    async def get(self, scope: Scope, chunk_id: str) -> Chunk:
        async with self._database.read() as stored:
            found = await stored.chunks.get_many(scope, [chunk_id])
        if chunk_id not in found:
            raise NotFound("There is no such chunk.", details={"chunk_id": chunk_id})
        return found[chunk_id]

    async def set_enabled(self, scope: Scope, chunk_id: str, enabled: bool) -> Chunk:
        """Switch a chunk on or off in every search. ``scope`` includes disabled chunks.

        The database decides at once. The engine is told at once too, and again by a worker: a process that dies in
        between must not leave a chunk switched on here and never found there.
        """
        async with self._database.begin() as stored:
            found = await stored.chunks.get_many(replace(scope, include_disabled=True), [chunk_id])
            if chunk_id not in found:
                raise NotFound("There is no such chunk.", details={"chunk_id": chunk_id})
            chunk = replace(found[chunk_id], enabled=enabled)
            await stored.chunks.update(scope, chunk)
            forms = (await stored.chunks.forms(replace(scope, include_disabled=True), [chunk_id])).get(chunk_id, [])
            rows = [row.chunk_id for row in (chunk, *forms) if row.is_searched]
            if rows:
                work_id, now = self._new_id(), self._clock()
                await stored.work.add(Work.new(WorkKind.REINDEX, chunk.document_id, of=chunk, work_id=work_id, now=now))
        if rows:
            try:
                await self._engine.set_enabled(scope, chunk.base_id, dict.fromkeys(rows, enabled))
            except EngineError as error:
                log.warning("The engine is told later that chunk %s changed: %s", chunk_id, error)
            self._jobs.wake()
        return chunk
