"""Makes the engine hold of a base what the database says that it holds, and nothing else."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from dataclasses import replace

from opora.domain.forms import owner_of_form
from opora.domain.knowledge import KnowledgeBase, ParseStatus
from opora.domain.scope import Scope
from opora.domain.work import Work, WorkKind
from opora.index.difference import Difference, difference
from opora.jobs.ground import Ground
from opora.ports import Repositories

log = logging.getLogger(__name__)

QUIET_SECONDS = 5.0
"""A row that the database does not hold may be one that is just being written: it is looked at twice, so far apart."""


async def mend_base(ground: Ground, work: Work) -> None:
    """Rows that are missing, or lack a vector that they should have, are written again from the database; rows that
    belong to nothing are taken out."""
    scope = ground.scope_of(work.tenant_id, work.base_id)
    async with ground.database.read() as stored:
        bases = await stored.bases.find(work.tenant_id, [work.base_id])
    if bases:
        found = await compared(ground, scope, bases[0])
        taken_out = await _take_out(ground, scope, bases[0], found.stray) if found.stray else frozenset()
        if not found.is_sound:
            log.warning(
                "Knowledge base %r: %d rows missing in the engine, %d without their vector, %d that belong to nothing.",
                *(bases[0].name, len(found.missing), len(found.vectorless), len(taken_out)),
            )
    async with ground.database.begin() as stored:
        await ground.hold(stored, work)
        if bases and await stored.bases.find(work.tenant_id, [work.base_id]):
            # Also what came to be held while it was taken out.
            again = found.missing | found.vectorless | await stored.chunks.present(scope, taken_out)
            await write_again(ground, stored, scope, bases[0], again)
        await stored.work.finish(work.work_id)


async def compared(ground: Ground, scope: Scope, base: KnowledgeBase) -> Difference:
    return await difference(ground.database, ground.engine, scope, base.base_id, base.embedding_model_id or None)


async def write_again(
    ground: Ground, stored: Repositories, scope: Scope, base: KnowledgeBase, rows: Collection[str]
) -> None:
    """Inside a transaction: forget that these rows have vectors, and queue what writes them."""
    if not rows:
        return
    await stored.chunks.mark_embedded(scope, rows, "")
    owners = await stored.chunks.get_many(
        replace(scope, include_disabled=True), {owner_of_form(row_id) for row_id in rows}
    )
    if base.embedding_model_id:
        await stored.chunks.recount(scope, base.embedding_model_id)
    documents = await stored.documents.get_many(scope, {chunk.document_id for chunk in owners.values()})
    for document in documents.values():
        if document.parse_status is ParseStatus.COMPLETED:
            await stored.documents.update(scope, replace(document, parse_status=ParseStatus.PROCESSING))
        await queue(ground, stored, base, WorkKind.REINDEX, document.document_id)


async def queue(ground: Ground, stored: Repositories, base: KnowledgeBase, kind: WorkKind, subject: str) -> None:
    now = ground.clock()
    await stored.work.add(
        Work(
            work_id=ground.new_id(),
            kind=kind,
            tenant_id=base.tenant_id,
            base_id=base.base_id,
            subject=subject,
            not_before=now,
            created_at=now,
        )
    )


async def _take_out(ground: Ground, scope: Scope, base: KnowledgeBase, stray: frozenset[str]) -> frozenset[str]:
    await asyncio.sleep(QUIET_SECONDS)
    still = stray & (await compared(ground, scope, base)).stray
    await ground.engine.delete_chunks(scope, base.base_id, still)
    return still
