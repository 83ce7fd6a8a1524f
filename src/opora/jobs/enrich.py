"""Has a chat model add to a document what its base wants: resumable, within a budget, never at its expense."""

from __future__ import annotations

import logging
from dataclasses import replace

from opora.domain.enrichment import Enrichment
from opora.domain.errors import NotFound, OporaError
from opora.domain.knowledge import Chunk, ChunkType, Document, KnowledgeBase, ParseStatus
from opora.domain.scope import Scope
from opora.domain.steps import StepName
from opora.domain.work import Work, WorkKind
from opora.index.reading import all_chunks
from opora.jobs.desk import BudgetSpent, Desk
from opora.jobs.enrich_queue import is_wanted
from opora.jobs.enrich_steps import STEPS
from opora.jobs.ground import Ground, LeaseLost
from opora.ports import Repositories
from opora.text.language import detect_language

log = logging.getLogger(__name__)

ATTEMPTS = 5
"""A model that fails so often is given up: the document stays as it is, and its enrichment says why."""
SAMPLE_CHARS = 2_000


async def enrich(ground: Ground, work: Work) -> None:
    scope = replace(ground.scope_of(work.tenant_id, work.base_id), include_disabled=True)
    desk, state = await _opened(ground, work, scope)
    if desk is None or state is None:
        await _end(ground, work, scope)
        return
    try:
        for step in desk.base.enrichment_steps:
            if step not in state.done:
                with ground.steps.step(work, StepName.ENRICH) as counts:
                    before = state.tokens
                    state = await STEPS[step](desk, state)
                    counts |= {step.value: 1, "tokens": state.tokens - before}
                if step not in state.done:
                    break
    except BudgetSpent as error:
        await _give_up(desk, error.message)
    except (LeaseLost, NotFound):
        raise
    except OporaError as error:
        if work.attempts + 1 < ATTEMPTS:
            raise
        log.warning("The enrichment of %s is given up: %s", work.subject, error)
        await _give_up(desk, error.message)
    await _end(ground, work, scope)


async def _opened(ground: Ground, work: Work, scope: Scope) -> tuple[Desk | None, Enrichment | None]:
    """What there is to do, or None: the document went, waits for new bytes, or has all that its base wants."""
    if ground.writer is None:
        return None, None
    async with ground.database.read() as stored:
        bases = await stored.bases.find(work.tenant_id, [work.base_id])
        document = await _ready(stored, scope, work.subject)
        if not bases or document is None or not await is_wanted(stored, scope, bases[0], work.subject):
            return None, None
        chunks = await _own_chunks(stored, scope, document)
        state = await stored.enrichments.get(scope, work.subject)
    if state is None or state.version != document.indexed_version:
        summary = state.summary if state else ""
        state = Enrichment(document_id=document.document_id, version=document.indexed_version, summary=summary)
    sample = "\n".join(chunk.content for chunk in chunks[:20])[:SAMPLE_CHARS]
    desk = Desk(
        ground=ground,
        work=work,
        scope=scope,
        base=bases[0],
        document=document,
        chunks=chunks,
        model=ground.writer,
        language=detect_language(sample),
    )
    return desk, state


async def _ready(stored: Repositories, scope: Scope, document_id: str) -> Document | None:
    try:
        document = await stored.documents.get(scope, document_id)
    except NotFound:
        return None
    is_current = document.version == document.indexed_version
    return document if is_current and document.parse_status is ParseStatus.COMPLETED else None


async def _own_chunks(stored: Repositories, scope: Scope, document: Document) -> tuple[Chunk, ...]:
    """Those of the document's text; parents hold it twice."""
    found = await all_chunks(stored, scope, document.document_id)
    return tuple(chunk for chunk in found if chunk.chunk_type is ChunkType.TEXT)


async def _give_up(desk: Desk, reason: str) -> None:
    """Keep what was made and what it cost, and say why nothing more comes."""
    async with desk.ground.database.begin() as stored:
        state = await stored.enrichments.get(desk.scope, desk.document.document_id)
        if state is None or state.version != desk.document.indexed_version:
            state = Enrichment(document_id=desk.document.document_id, version=desk.document.indexed_version)
        await desk.save(stored, replace(state, reason=reason))


async def _end(ground: Ground, work: Work, scope: Scope) -> None:
    """End the work; where it made way for other work on the document, it is queued again behind that."""
    async with ground.database.begin() as stored:
        await ground.hold(stored, work)
        await stored.work.finish(work.work_id)
        bases = await stored.bases.find(work.tenant_id, [work.base_id])
        if not bases or ground.writer is None:
            return
        if await _ready(stored, scope, work.subject) and await is_wanted(stored, scope, bases[0], work.subject):
            await stored.work.add(ground.follow_up(work, WorkKind.ENRICH))
        elif _lacks_description(bases[0]):
            await stored.work.add(replace(ground.follow_up(work, WorkKind.DESCRIBE_BASE), subject=work.base_id))


def _lacks_description(base: KnowledgeBase) -> bool:
    return base.enrichment.base_description and not base.description
