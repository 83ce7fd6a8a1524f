"""Queues the enrichment of a document where its base wants more than was done."""

from __future__ import annotations

from opora.domain.errors import NotFound
from opora.domain.knowledge import KnowledgeBase
from opora.domain.scope import Scope
from opora.domain.work import Work, WorkKind
from opora.jobs.graph import queue_graph
from opora.jobs.ground import Ground
from opora.ports import Repositories


async def queue_enrichment(ground: Ground, stored: Repositories, scope: Scope, held: Work) -> None:
    """In the transaction that made a document ready; nothing happens where nothing is left to do.

    What its chunks say already goes into the graph at once."""
    bases = await stored.bases.find(held.tenant_id, [held.base_id])
    for base in bases:
        await queue_graph(ground, stored, held, base)
    if ground.writer is not None and bases and await is_wanted(stored, scope, bases[0], held.subject):
        await stored.work.add(ground.follow_up(held, WorkKind.ENRICH))


async def is_wanted(stored: Repositories, scope: Scope, base: KnowledgeBase, document_id: str) -> bool:
    """Whether a step that the base wants was neither done nor given up for the document as it stands."""
    if not base.is_enriched:
        return False
    try:
        document = await stored.documents.get(scope, document_id)
    except NotFound:
        return False
    state = await stored.enrichments.get(scope, document_id)
    if state is None or state.version != document.indexed_version:
        return True
    return not state.reason and not set(base.enrichment_steps) <= set(state.done)
