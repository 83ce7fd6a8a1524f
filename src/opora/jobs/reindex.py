"""Writes a document's chunks to the engine again, as the database holds them, after the engine was lost."""

from __future__ import annotations

from dataclasses import replace

from opora.domain.errors import NotFound
from opora.domain.knowledge import ParseStatus
from opora.domain.steps import StepName
from opora.domain.work import Work, WorkKind
from opora.index.reading import READ_STEP
from opora.index.writer import as_switched, write_keywords
from opora.jobs.ground import Ground
from opora.ports import Page


async def reindex(ground: Ground, work: Work) -> None:
    scope = ground.scope_of(work.tenant_id, work.base_id)
    async with ground.database.read() as stored:
        bases = await stored.bases.find(work.tenant_id, [work.base_id])
    embedder = await ground.embedders.of(bases[0]) if bases else None
    page = Page(page=1, page_size=READ_STEP)
    while bases:
        async with ground.database.read() as stored:
            chunks = (await stored.chunks.browse(scope, work.subject, page, with_forms=True)).items
            document = (await stored.documents.get_many(scope, [work.subject])).get(work.subject)
        if not chunks or document is None:
            break
        with ground.steps.step(work, StepName.KEYWORDS) as counts:
            counts |= {"chunks": sum(chunk.is_searched for chunk in chunks)}
            await write_keywords(ground.engine, scope, as_switched(chunks, document), bases[0].indexing)
        page = replace(page, page=page.page + 1)
    async with ground.database.begin() as stored:
        await ground.hold(stored, work)
        await stored.work.finish(work.work_id)
        try:
            document = await stored.documents.get(scope, work.subject)
        except NotFound:
            return
        if not bases or document.parse_status is ParseStatus.DELETING:
            return
        left = 0
        if embedder is not None and bases[0].indexing.vector and not document.is_cancelled:
            left = await stored.chunks.count_unembedded(scope, work.subject, embedder.card.identity)
        if left:
            await stored.work.add(ground.follow_up(work, WorkKind.EMBED))
        elif document.parse_status is ParseStatus.PROCESSING and document.version == document.indexed_version:
            done = replace(document, parse_status=ParseStatus.COMPLETED, updated_at=ground.clock())
            await stored.documents.update(scope, done)
