"""Writes the vectors that a document's chunks still lack, batch by batch; what is written is never embedded again."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from time import monotonic

from opora.domain.errors import Conflict, NotFound
from opora.domain.faq import FAQ_FILE_TYPE
from opora.domain.knowledge import Chunk, ChunkType, Document, KnowledgeBase, ParseReason, ParseStatus
from opora.domain.scope import Scope
from opora.domain.steps import StepName
from opora.domain.work import Work
from opora.index.writer import as_switched, write_vectors
from opora.jobs.enrich_queue import queue_enrichment
from opora.jobs.ground import Ground
from opora.jobs.pace import Pace
from opora.ports import Embedder, Repositories, Vectors

BATCH = 256
"""Chunks a batch: enough for an embedder to sort by length and fill its own batches, little to lose in a crash."""


_Todo = tuple[list[Chunk], KnowledgeBase]
"""A batch, and the base as it is when the batch is read."""


class Embedding:
    """The job, with the pace it keeps. One batch at a time goes to the model: another document's worker reads and
    writes meanwhile, so that the model does not wait for the database."""

    def __init__(self, ground: Ground, pace: Pace, *, batch: int = BATCH) -> None:
        self._ground = ground
        self._pace = pace
        self._batch = batch
        self._turn = asyncio.Lock()

    async def run(self, work: Work) -> None:
        scope = self._ground.scope_of(work.tenant_id, work.base_id)
        base = await self._base(work)
        embedder = None if base is None else await self._ground.embedders.of(base)
        if base is None or embedder is None:
            await self._mark(work, scope, "", [], base)
            return
        reading: asyncio.Task[_Todo | None] | None = None
        writing: asyncio.Task[bool] | None = None
        under_way: list[Chunk] = []
        todo = await self._next(work, scope, embedder, [])
        try:
            while todo is not None:
                chunks, base = todo
                if not chunks:
                    if writing is None:
                        await self._keep(work, scope, embedder, [], None, base)
                        return
                    # What was left is being written, or came while it was embedded: look again.
                    if await writing:
                        return
                    writing, under_way = None, []
                    todo = await self._next(work, scope, embedder, [])
                    continue
                # While a batch is embedded the one before it is written, and the one after it read.
                reading = asyncio.ensure_future(self._next(work, scope, embedder, [*under_way, *chunks]))
                vectors = await self._embed(work, embedder, chunks)
                if writing is not None and await writing:
                    return
                writing = asyncio.ensure_future(self._keep(work, scope, embedder, chunks, vectors, base))
                under_way = chunks
                todo = await reading
            # Not before the last write has ended: then others may work on the document, and take it out.
            if writing is None or not await writing:
                async with self._ground.database.begin() as stored:
                    await stored.work.finish(work.work_id)
        finally:
            begun = [task for task in (reading, writing) if task is not None]
            for task in begun:
                task.cancel()
            await asyncio.gather(*begun, return_exceptions=True)

    async def _keep(
        self,
        work: Work,
        scope: Scope,
        embedder: Embedder,
        chunks: list[Chunk],
        vectors: Vectors | None,
        base: KnowledgeBase,
    ) -> bool:
        """Write a batch and record it; True for the end."""
        if vectors is not None:
            with self._ground.steps.step(work, StepName.WRITE_VECTORS) as counts:
                counts |= {"chunks": len(chunks)}
                await write_vectors(self._ground.engine, scope, chunks, vectors, embedder.card.dimension, base.indexing)
        return await self._mark(work, scope, embedder.card.identity, chunks, base)

    async def _next(self, work: Work, scope: Scope, embedder: Embedder, under_way: list[Chunk]) -> _Todo | None:
        """The next batch beside those that are under way, or None where nothing is to be done any more: the document
        went, or has new bytes."""
        skipped = {chunk.chunk_id for chunk in under_way}
        async with self._ground.database.read() as stored:
            document = await _find(stored, scope, work.subject)
            bases = await stored.bases.find(work.tenant_id, [work.base_id])
            if document is not None and bases and not (_is_superseded(document) or document.is_cancelled):
                identity = embedder.card.identity
                limit = self._batch + len(skipped)
                # What came in before those under way is found once these are written.
                start = under_way[-1].chunk_index if under_way else 0
                left = await stored.chunks.without_vector(scope, work.subject, identity, limit=limit, start=start)
                new = [chunk for chunk in left if chunk.chunk_id not in skipped][: self._batch]
                return as_switched(new, document), bases[0]
        return None

    async def _base(self, work: Work) -> KnowledgeBase | None:
        async with self._ground.database.read() as stored:
            found = await stored.bases.find(work.tenant_id, [work.base_id])
        return found[0] if found else None

    async def _embed(self, work: Work, embedder: Embedder, chunks: list[Chunk]) -> Vectors:
        async with self._turn:
            start = monotonic()
            with self._ground.steps.step(work, StepName.EMBED) as counts:
                counts |= {"chunks": len(chunks), "characters": sum(len(chunk.search_text) for chunk in chunks)}
                vectors = await embedder.embed_passages([chunk.search_text for chunk in chunks])
            self._pace.record(len(chunks), monotonic() - start)
        return vectors

    async def _mark(
        self, work: Work, scope: Scope, identity: str, chunks: list[Chunk], base: KnowledgeBase | None
    ) -> bool:
        """Record the batch and, after the last one, the end of the work in the same transaction; True for the end."""
        async with self._ground.database.begin() as stored:
            await self._ground.hold(stored, work)
            found = await stored.bases.find(work.tenant_id, [work.base_id])
            if found and base is not None and found[0].own_model_id != base.own_model_id:
                raise Conflict("The base was given another embedding model meanwhile.", hint="It is embedded anew.")
            await stored.chunks.mark_embedded(scope, [chunk.chunk_id for chunk in chunks], identity)
            document = await _find(stored, scope, work.subject)
            if document is None or document.is_cancelled:
                await stored.work.finish(work.work_id)
                return True
            await self._ground.keep_steps(stored, work)
            counted = sum(_is_counted(chunk, document) for chunk in chunks)
            embedded = min(document.embedded_count + counted, document.chunk_count)
            document = replace(document, embedded_count=embedded, updated_at=self._ground.clock())
            is_last = len(chunks) < self._batch and (
                not chunks or await stored.chunks.count_unembedded(scope, work.subject, identity) == 0
            )
            await stored.documents.update(scope, _completed(document) if is_last else document)
            if is_last:
                await stored.work.finish(work.work_id)
                await queue_enrichment(self._ground, stored, scope, work)
                if identity:
                    await self._adopt(stored, scope, document, identity)
        return is_last

    async def _adopt(self, stored: Repositories, scope: Scope, document: Document, identity: str) -> None:
        """Name the model on the base once every chunk of it has a vector by that model: until then a search by
        meaning would compare vectors of two models."""
        base = (await stored.bases.find(document.tenant_id, [document.base_id]))[0]
        if base.embedding_model_id == identity:
            return
        left = await stored.documents.count_unembedded(scope)
        if left == 0 and await stored.chunks.models(scope) <= {identity}:
            await stored.bases.update(scope, replace(base, embedding_model_id=identity))


def _is_counted(chunk: Chunk, document: Document) -> bool:
    """Forms are no chunks of their document, but all that a FAQ has."""
    return chunk.chunk_type is not ChunkType.QUESTION or document.file_type == FAQ_FILE_TYPE


def _is_superseded(document: Document) -> bool:
    """New bytes wait to be read: their chunks are the ones to embed."""
    return document.version != document.indexed_version and document.parse_status is not ParseStatus.FAILED


def _completed(document: Document) -> Document:
    """Also one that was given up because the model was down."""
    gave_up = document.parse_status is ParseStatus.FAILED and document.error_reason == ParseReason.EMBEDDING
    if document.parse_status is ParseStatus.PROCESSING or gave_up:
        return replace(document, parse_status=ParseStatus.COMPLETED, error_reason="", error_message="")
    return document


async def _find(stored: Repositories, scope: Scope, document_id: str) -> Document | None:
    try:
        document = await stored.documents.get(scope, document_id)
    except NotFound:
        return None
    return None if document.parse_status is ParseStatus.DELETING else document
