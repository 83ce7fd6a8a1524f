"""Copies a base with all it holds into another one that nobody sees until it is complete.

Each document goes by itself: its files, then its rows inside the engine with their vectors, then everything else in
one transaction. Ids in the copy come from those of the source, so that each step can be done twice, and a job that was
cut off goes on behind the last document that is there. The last transaction shows the base and queues what its
documents still wait for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opora.domain.bases import BaseCopy, CopyStatus, copied_id
from opora.domain.knowledge import Document, ParseStatus
from opora.domain.scope import Scope
from opora.domain.work import Work, WorkKind
from opora.index.difference import Difference
from opora.jobs.copy_document import Bench, copy_document
from opora.jobs.ground import Ground
from opora.jobs.mend import compared, queue, write_again
from opora.ports import Repositories

GONE = "The knowledge base that was to be copied was deleted."


async def copy_base(ground: Ground, work: Work) -> None:
    begun = await _begin(ground, work)
    if begun is None:
        return
    bench, document_ids = begun
    await _drop(bench, document_ids)
    for document_id in document_ids:
        while not await copy_document(bench, document_id):
            pass
    await _show(bench)


async def _begin(ground: Ground, work: Work) -> tuple[Bench, list[str]] | None:
    """None where there is nothing to do any more; a source that went ends the copy."""
    target = ground.scope_of(work.tenant_id, work.base_id)
    async with ground.database.begin() as stored:
        await ground.hold(stored, work)
        task = await stored.copies.get(target, work.subject)
        source = ground.scope_of(work.tenant_id, task.source_id)
        base = await stored.bases.hidden(target, task.target_id)
        is_there = bool(await stored.bases.find(work.tenant_id, [task.source_id]))
        if base is None:
            await stored.work.finish(work.work_id)
            return None
        if is_there:
            held = await stored.documents.get_many(source, await stored.documents.ids(source))
            document_ids = [key for key, one in held.items() if one.parse_status is not ParseStatus.DELETING]
            task = replace(task, status=CopyStatus.PROCESSING, total=len(document_ids), updated_at=ground.clock())
            await stored.copies.update(target, task)
            tag_ids = await _copy_tags(ground, stored, source, target, task)
    if not is_there:
        await _give_up(ground, work, target, task)
        return None
    both = replace(target, bases=(*source.bases, *target.bases))
    bench = Bench(
        ground=ground, work=work, task=task, base=base, source=source, target=target, both=both, tag_ids=tag_ids
    )
    return bench, document_ids


async def _drop(bench: Bench, document_ids: Sequence[str]) -> None:
    """After a start in the middle: take out what the source no longer has, and count what is there already."""
    ground, base_id = bench.ground, bench.task.target_id
    wanted = {copied_id(base_id, one) for one in document_ids}
    async with ground.database.read() as stored:
        there = set(await stored.documents.ids(bench.target))
    gone = sorted(there - wanted)
    if gone:
        await ground.engine.delete_documents(bench.target, base_id, gone)
    for document_id in gone:
        await ground.blobs.delete(bench.task.tenant_id, document_id)
    async with ground.database.begin() as stored:
        await ground.hold(stored, bench.work)
        for document_id in gone:
            await stored.documents.delete(bench.target, document_id)
        done = replace(bench.task, done=len(there & wanted), updated_at=ground.clock())
        await stored.copies.update(bench.target, done)


async def _copy_tags(
    ground: Ground, stored: Repositories, source: Scope, target: Scope, task: BaseCopy
) -> dict[str, str]:
    found = {one.tag.tag_id: one.tag for one in await stored.tags.browse(source, task.source_id)}
    ids = {tag_id: copied_id(task.target_id, tag_id) for tag_id in found}
    there = await stored.tags.known(target, list(ids.values()))
    for tag_id, tag in found.items():
        if ids[tag_id] not in there:
            await stored.tags.add(target, replace(tag, tag_id=ids[tag_id], base_id=task.target_id))
    return ids


async def _show(bench: Bench) -> None:
    ground, work, target, base_id = bench.ground, bench.work, bench.target, bench.task.target_id
    found = await compared(ground, target, bench.base)
    if found.stray:
        await ground.engine.delete_chunks(target, base_id, found.stray)
    async with ground.database.begin() as stored:
        await ground.hold(stored, work)
        is_there = bool(await stored.bases.find(work.tenant_id, [bench.task.source_id]))
        if is_there:
            await _shown(bench, stored, found)
    if not is_there:
        # Some of its documents went before they were copied: half a base is nobody's.
        await _give_up(ground, work, target, bench.task)


async def _shown(bench: Bench, stored: Repositories, found: Difference) -> None:
    ground, work, target, base_id = bench.ground, bench.work, bench.target, bench.task.target_id
    await stored.bases.show(target, base_id)
    await stored.bases.update(target, replace(bench.base, updated_at=ground.clock()))
    if bench.base.embedding_model_id:
        await stored.chunks.recount(target, bench.base.embedding_model_id)
    # An edit in the source while its document was copied may have taken rows out from under the copy.
    await write_again(ground, stored, target, bench.base, found.missing | found.vectorless)
    documents = await stored.documents.get_many(target, await stored.documents.ids(target))
    for document in documents.values():
        if (kind := _awaited(document)) is not None:
            await queue(ground, stored, bench.base, kind, document.document_id)
    if bench.base.indexing.graph:
        await stored.work.add_for_documents(WorkKind.GRAPH, ground.clock(), ground.new_id, base_id)
    if ground.writer is not None and bench.base.is_enriched:
        await stored.work.add_for_documents(WorkKind.ENRICH, ground.clock(), ground.new_id, base_id)
    task = await stored.copies.get(target, bench.task.task_id)
    task = replace(task, status=CopyStatus.COMPLETED, total=task.done, updated_at=ground.clock())
    await stored.copies.update(target, task)
    await stored.work.finish(work.work_id)


def _awaited(document: Document) -> WorkKind | None:
    """The step that a document of the source was waiting for when it was copied."""
    if document.parse_status not in (ParseStatus.PENDING, ParseStatus.PROCESSING):
        return None
    return WorkKind.REINDEX if document.version == document.indexed_version else WorkKind.INGEST


async def _give_up(ground: Ground, work: Work, target: Scope, task: BaseCopy) -> None:
    """Take out what was copied, and say why there is no more."""
    await ground.engine.delete_base(target, task.target_id)
    async with ground.database.read() as stored:
        document_ids = await stored.documents.ids(target)
    for document_id in document_ids:
        await ground.blobs.delete(task.tenant_id, document_id)
    async with ground.database.begin() as stored:
        await ground.hold(stored, work)
        await stored.bases.delete(target, task.target_id)
        failed = replace(task, status=CopyStatus.FAILED, error=GONE, updated_at=ground.clock())
        await stored.copies.update(target, failed)
        await stored.work.finish(work.work_id)
