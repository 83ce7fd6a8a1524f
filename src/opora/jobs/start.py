"""What is put right when the one owner of a data folder starts: leases, a lost engine, another model, orphan files."""

from __future__ import annotations

import logging
from dataclasses import replace

from opora.domain.errors import DimensionMismatch
from opora.domain.knowledge import KnowledgeBase
from opora.domain.work import WorkKind
from opora.jobs.ground import Ground
from opora.ports import EmbedderCard, Repositories

log = logging.getLogger(__name__)


async def put_right(ground: Ground) -> None:
    """Call before any worker runs and before anything is uploaded."""
    async with ground.database.begin() as stored:
        await stored.work.release_all()
    await check_generation(ground)
    if ground.embedder is not None:
        await check_model(ground, ground.embedder.card)
    await sweep_blobs(ground)


async def check_generation(ground: Ground) -> None:
    """An engine that was made anew has lost everything: queue every document to be written again."""
    generation = await ground.engine.generation()
    name = f"engine_generation:{ground.engine.name}"
    async with ground.database.begin() as stored:
        if await stored.get_fact(name) == generation:
            return
        await stored.chunks.forget_vectors()
        queued = await stored.work.add_for_documents(WorkKind.REINDEX, ground.clock(), ground.new_id)
        await stored.set_fact(name, generation)
    if queued:
        log.warning("The search engine %r is new and empty: %d documents are written anew.", ground.engine.name, queued)


async def check_model(ground: Ground, card: EmbedderCard) -> None:
    """Record the size of the model's vectors, and queue the bases whose vectors are another model's.

    Raises `DimensionMismatch` when a known model has another size than it had: its name points to something else now.
    """
    name = f"model_dimension:{card.identity}"
    async with ground.database.begin() as stored:
        known = await stored.get_fact(name)
        if known is None:
            await stored.set_fact(name, str(card.dimension))
        elif int(known) != card.dimension:
            raise DimensionMismatch(
                f"The model {card.identity} gave vectors of {known} numbers and now gives {card.dimension}.",
                hint="Name the changed model differently, or go back to the one that was used.",
                details={"model": card.identity, "expected": int(known), "got": card.dimension},
            )
        for ref in await stored.bases.refs():
            for base in await stored.bases.find(ref.tenant_id, [ref.base_id]):
                await _check_base(ground, stored, base, card)


async def _check_base(ground: Ground, stored: Repositories, base: KnowledgeBase, card: EmbedderCard) -> None:
    if not base.indexing.vector:
        return
    scope = ground.scope_of(base.tenant_id, base.base_id)
    if base.embedding_model_id not in ("", card.identity):
        if not await stored.chunks.ids(scope, model=base.embedding_model_id):
            await stored.bases.update(scope, replace(base, embedding_model_id=card.identity))
        else:
            log.warning(
                "The vectors of the knowledge base %r are of the model %r and %r is configured: they are made anew, and"
                " until then the base is searched by words only.",
                base.name,
                base.embedding_model_id,
                card.identity,
            )
            await stored.chunks.forget_vectors(base_id=base.base_id)
    await stored.work.add_for_documents(WorkKind.EMBED, ground.clock(), ground.new_id, base.base_id)


async def sweep_blobs(ground: Ground) -> None:
    """Remove the files of uploads that were never recorded: whoever sent them got no answer."""
    files = await ground.blobs.stored()
    async with ground.database.read() as stored:
        known = await stored.documents.known([document_id for _, document_id in files])
    for tenant_id, document_id in files:
        if document_id not in known:
            await ground.blobs.delete(tenant_id, document_id)
