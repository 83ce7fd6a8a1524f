"""Takes out what is hidden already: engine first, then files, then rows, so that what is left can be tried again."""

from __future__ import annotations

from opora.domain.errors import NotFound
from opora.domain.steps import StepName
from opora.domain.work import Work, WorkKind
from opora.jobs.ground import Ground


async def delete_document(ground: Ground, work: Work) -> None:
    scope = ground.scope_of(work.tenant_id, work.base_id)
    await ground.engine.delete_documents(scope, work.base_id, {work.subject})
    await ground.graph.delete_documents(scope, work.base_id, {work.subject})
    await ground.blobs.delete(work.tenant_id, work.subject)
    async with ground.database.begin() as stored:
        await ground.hold(stored, work)
        await stored.documents.delete(scope, work.subject)
        for kind in (
            WorkKind.INGEST,
            WorkKind.EMBED,
            WorkKind.ENRICH,
            WorkKind.GRAPH,
            WorkKind.REINDEX,
            WorkKind.CLEAN_CHUNKS,
        ):
            await stored.work.cancel(kind, work.subject)
        await stored.work.finish(work.work_id)


async def delete_base(ground: Ground, work: Work) -> None:
    """The queue gives this out only when nothing else in the base is being worked on."""
    scope = ground.scope_of(work.tenant_id, work.base_id)
    await ground.engine.delete_base(scope, work.base_id)
    await ground.graph.delete_base(scope, work.base_id)
    async with ground.database.read() as stored:
        document_ids = await stored.documents.ids(scope)
    for document_id in document_ids:
        await ground.blobs.delete(work.tenant_id, document_id)
    async with ground.database.begin() as stored:
        await ground.hold(stored, work)
        await stored.bases.delete(scope, work.base_id)
        await stored.work.finish(work.work_id)


async def clean_chunks(ground: Ground, work: Work) -> None:
    """Take earlier chunks of a document out of the engine, and the files of versions that nothing points to."""
    scope = ground.scope_of(work.tenant_id, work.base_id)
    async with ground.database.read() as stored:
        strays = await stored.chunks.strays(scope, work.subject)
        try:
            document = await stored.documents.get(scope, work.subject)
        except NotFound:
            document = None
    with ground.steps.step(work, StepName.CLEAN) as counts:
        counts |= {"chunks": len(strays)}
        if document is not None and document.indexed_version == 0:
            await ground.engine.delete_documents(scope, work.base_id, {work.subject})
        elif strays:
            await ground.engine.delete_chunks(scope, work.base_id, strays)
        if document is not None:
            # Never a newer version: its upload may be under way.
            await ground.blobs.delete(work.tenant_id, work.subject, before=document.indexed_version)
    async with ground.database.begin() as stored:
        await ground.hold(stored, work)
        await stored.chunks.forget_strays(scope, work.subject, strays)
        await stored.work.finish(work.work_id)
