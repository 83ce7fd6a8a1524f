"""What is put right when a server starts: leases, a lost engine, another model, orphan files."""

from __future__ import annotations

import logging
from dataclasses import replace

from opora.domain.errors import DimensionMismatch, ModelError
from opora.domain.knowledge import KnowledgeBase
from opora.domain.work import WorkKind
from opora.jobs.ground import Ground
from opora.ports import EmbedderCard, Repositories

log = logging.getLogger(__name__)

MODEL_FACT = "embedding_model"
ENGINE_FACT = "engine"


async def put_right(ground: Ground, *, alone: bool = True) -> None:
    """Call before any worker runs and before anything is uploaded.

    Beside other servers leases are left to run out, and files that no document has yet to whoever is taking them in.
    """
    if alone:
        async with ground.database.begin() as stored:
            await stored.work.release_all()
    await check_generation(ground)
    default = ground.embedders.default
    if default is not None:
        await check_model(ground, default.card)
    await check_own_models(ground)
    if alone:
        await sweep_blobs(ground)


async def check_generation(ground: Ground) -> None:
    """An engine that was made anew has lost everything, and one that is come back to has missed what happened since:
    queue every document to be written again."""
    engine = ground.engine
    generation, name = await engine.generation(), f"engine_generation:{engine.name}"
    async with ground.database.begin() as stored:
        known, last = await stored.get_fact(name), await stored.get_fact(ENGINE_FACT)
        if known == generation and last in (None, engine.name):
            await stored.set_fact(ENGINE_FACT, engine.name)
            return
        refs = await stored.bases.refs()
    if known == generation:
        for ref in refs:
            await engine.delete_base(ground.scope_of(ref.tenant_id, ref.base_id), ref.base_id)
    async with ground.database.begin() as stored:
        await stored.chunks.forget_vectors()
        queued = await stored.work.add_for_documents(WorkKind.REINDEX, ground.clock(), ground.new_id)
        await stored.set_fact(name, generation)
        await stored.set_fact(ENGINE_FACT, engine.name)
    if queued:
        log.warning("The search engine %r is new or out of date: %d documents are written anew.", engine.name, queued)


async def check_own_models(ground: Ground) -> None:
    """Look at the bases that have a model of their own. It is not called: one that is down stops no start."""
    async with ground.database.read() as stored:
        bases = await _all_bases(stored)
    for base in bases:
        if base.own_model_id and base.indexing.vector:
            await _check_own(ground, base)


async def _check_own(ground: Ground, base: KnowledgeBase) -> None:
    try:
        embedder = await ground.embedders.of(base)
    except ModelError as error:
        log.warning("Knowledge base %r is searched and embedded no more: %s", base.name, error)
        return
    if embedder is not None:
        async with ground.database.begin() as stored:
            await _check_base(ground, stored, base, embedder.card, is_new=False)


async def check_model(ground: Ground, card: EmbedderCard) -> None:
    """Record the size of the model's vectors, and queue what has no vector by it.

    Raises `DimensionMismatch` when a known model has another size than it had: its name points to something else now.
    """
    size = f"model_dimension:{card.identity}"
    async with ground.database.begin() as stored:
        known = await stored.get_fact(size)
        if known is not None and int(known) != card.dimension:
            raise DimensionMismatch(
                f"The model {card.identity} gave vectors of {known} numbers and now gives {card.dimension}.",
                hint="Name the changed model differently, or go back to the one that was used.",
                details={"model": card.identity, "expected": int(known), "got": card.dimension},
            )
        await stored.set_fact(size, str(card.dimension))
        is_new = await stored.get_fact(MODEL_FACT) != card.identity
        await stored.set_fact(MODEL_FACT, card.identity)
        for base in await _all_bases(stored):
            if base.indexing.vector and not base.own_model_id:
                await _check_base(ground, stored, base, card, is_new)


async def _all_bases(stored: Repositories) -> list[KnowledgeBase]:
    """One query a tenant."""
    by_tenant: dict[str, list[str]] = {}
    for ref in await stored.bases.refs():
        by_tenant.setdefault(ref.tenant_id, []).append(ref.base_id)
    return [base for tenant_id, ids in by_tenant.items() for base in await stored.bases.find(tenant_id, ids)]


async def _check_base(
    ground: Ground, stored: Repositories, base: KnowledgeBase, card: EmbedderCard, is_new: bool
) -> None:
    """A base that still has vectors of another model is marked with that model: it is searched by words only, until
    the last vector is made anew."""
    scope = ground.scope_of(base.tenant_id, base.base_id)
    if is_new or base.embedding_model_id != card.identity:
        others = sorted(await stored.chunks.models(scope) - {card.identity})
        named = others[0] if others else card.identity
        await stored.bases.update(scope, replace(base, embedding_model_id=named))
        await stored.chunks.recount(scope, card.identity)
        if others:
            log.warning(
                "Knowledge base %r has vectors of the model %r and %r is configured: they are made anew, and until then"
                " the base is searched by words only.",
                base.name,
                named,
                card.identity,
            )
    await stored.work.add_for_documents(WorkKind.EMBED, ground.clock(), ground.new_id, base.base_id)


async def sweep_blobs(ground: Ground) -> None:
    """Remove the files of uploads that were never recorded: whoever sent them got no answer."""
    files = await ground.blobs.stored()
    async with ground.database.read() as stored:
        known = await stored.documents.known([document_id for _, document_id in files])
    for tenant_id, document_id in files:
        if document_id not in known:
            await ground.blobs.delete(tenant_id, document_id)
