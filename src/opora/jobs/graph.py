"""Makes the graph hold what the chunks of a document say, and nothing else of it."""

from __future__ import annotations

from dataclasses import replace

from opora.domain.errors import NotFound
from opora.domain.graph import ChunkFacts, facts_of
from opora.domain.knowledge import KnowledgeBase, ParseStatus
from opora.domain.scope import Scope
from opora.domain.steps import StepName
from opora.domain.work import Work, WorkKind
from opora.index.reading import all_chunks
from opora.jobs.ground import Ground
from opora.ports import Repositories


async def queue_graph(ground: Ground, stored: Repositories, held: Work, base: KnowledgeBase) -> None:
    """In the transaction that changed a document of a base that keeps a graph."""
    if base.indexing.graph:
        await stored.work.add(ground.follow_up(held, WorkKind.GRAPH))


async def write_graph(ground: Ground, work: Work) -> None:
    """A base that keeps no graph any more holds nothing there. A graph that is down has the work tried again."""
    scope = replace(ground.scope_of(work.tenant_id, work.base_id), include_disabled=True)
    facts = await _facts(ground, work, scope)
    if facts is not None:
        with ground.steps.step(work, StepName.GRAPH) as counts:
            await ground.graph.replace_document(scope, work.base_id, work.subject, facts)
            counts |= {"chunks": len(facts), "entities": sum(len(one.facts.entities) for one in facts)}
    async with ground.database.begin() as stored:
        await ground.hold(stored, work)
        await stored.work.finish(work.work_id)


async def _facts(ground: Ground, work: Work, scope: Scope) -> list[ChunkFacts] | None:
    """None for a document that is not there: what takes it out takes it out of the graph too."""
    async with ground.database.read() as stored:
        bases = await stored.bases.find(work.tenant_id, [work.base_id])
        try:
            document = await stored.documents.get(scope, work.subject)
        except NotFound:
            return None
        if not bases or document.parse_status is ParseStatus.DELETING:
            return None
        if not bases[0].indexing.graph:
            return []
        chunks = await all_chunks(stored, scope, work.subject)
    found = (ChunkFacts(chunk_id=chunk.chunk_id, facts=facts_of(chunk.metadata)) for chunk in chunks)
    return [one for one in found if one.facts.entities]
