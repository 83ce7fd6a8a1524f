"""Copies one document of a base that is copied: its files, its rows in the engine with their vectors, and the rest.

Ids in the copy come from those of the source, so that each step can be done twice. Everything that the database holds
of the document comes in one transaction, the last step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from opora.domain.bases import BaseCopy, copied_id
from opora.domain.enrichment import Enrichment
from opora.domain.errors import NotFound
from opora.domain.faq import FAQ_FILE_TYPE
from opora.domain.faq_entry import FaqRecord
from opora.domain.knowledge import Chunk, Document, KnowledgeBase, ParseStatus
from opora.domain.revisions import ChunkRevision
from opora.domain.scope import Scope
from opora.domain.work import Work
from opora.index.copies import DocumentCopy, copied_document
from opora.index.reading import all_chunks
from opora.index.writer import WRITE_STEP
from opora.jobs.ground import Ground
from opora.ports import Page, Repositories

ALL = Page(page=1, page_size=1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What one copy works at. ``source`` and ``target`` are scopes of one base each, ``both`` is for the engine."""

    ground: Ground
    work: Work
    task: BaseCopy
    base: KnowledgeBase
    source: Scope
    target: Scope
    both: Scope
    tag_ids: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A document of the source as it stood at one moment."""

    document: Document
    chunks: Sequence[Chunk]
    revisions: Sequence[ChunkRevision]
    marked: Mapping[str, frozenset[str]]
    """By the identity of a model: the rows whose vectors it made."""
    enrichment: Enrichment | None
    records: Sequence[FaqRecord]


async def copy_document(bench: Bench, document_id: str) -> bool:
    """False when the document got new bytes meanwhile, and has to be copied again."""
    async with bench.ground.database.read() as stored:
        if await stored.documents.known([copied_id(bench.task.target_id, document_id)]):
            return True
    read = await _read(bench, document_id)
    if read is None:
        return True
    copy = copied_document(read.document, read.chunks, read.revisions, base_id=bench.task.target_id, tags=bench.tag_ids)
    await _copy_files(bench, read.document, copy.document)
    await _copy_rows(bench, read.document, copy)
    return await _keep(bench, read, copy)


async def _read(bench: Bench, document_id: str) -> Read | None:
    scope = bench.source.narrowed(document_ids=frozenset({document_id}))
    async with bench.ground.database.read() as stored:
        document = await _living(stored, scope, document_id)
        if document is None:
            return None
        chunks = await all_chunks(stored, scope, document_id, with_forms=True)
        marked = {
            model: frozenset(await stored.chunks.ids(scope, model=model)) for model in await stored.chunks.models(scope)
        }
        is_faq = document.file_type == FAQ_FILE_TYPE
        records = (await stored.faq.browse(bench.source, document.base_id, ALL)).items if is_faq else ()
        return Read(
            document=document,
            chunks=chunks,
            revisions=await stored.revisions.of_document(scope, document_id),
            marked=marked,
            enrichment=await stored.enrichments.get(scope, document_id),
            records=records,
        )


async def _copy_files(bench: Bench, old: Document, new: Document) -> None:
    """Of a document that was never read, or whose file is gone, there is less."""
    blobs = bench.ground.blobs
    for version in sorted({old.version, old.indexed_version} - {0}):
        for part in ("original", "text"):
            try:
                data = await blobs.get(old.tenant_id, old.document_id, version, part=part)
            except NotFound:
                continue
            await blobs.put(new.tenant_id, new.document_id, version, data, part=part)


async def _copy_rows(bench: Bench, old: Document, copy: DocumentCopy) -> None:
    """Inside the engine, vectors and all. The engine's own tags and switches are set to what the copy has."""
    engine, base_id = bench.ground.engine, bench.task.target_id
    chunks = {chunk.chunk_id: chunk for chunk in copy.chunks if chunk.is_searched}
    rows = [(old_id, new_id) for old_id, new_id in sorted(copy.ids.items()) if new_id in chunks]
    for start in range(0, len(rows), WRITE_STEP):
        step = dict(rows[start : start + WRITE_STEP])
        documents = {old.document_id: copy.document.document_id}
        await engine.copy_base(bench.both, bench.task.source_id, base_id, step, document_ids=documents)
        mine = [chunks[new_id] for new_id in step.values()]
        enabled = {chunk.chunk_id: chunk.enabled and copy.document.enabled for chunk in mine}
        await engine.set_enabled(bench.target, base_id, enabled)
        await engine.set_tags(bench.target, base_id, {chunk.chunk_id: chunk.tag_ids for chunk in mine})


async def _keep(bench: Bench, read: Read, copy: DocumentCopy) -> bool:
    target, document = bench.target, copy.document
    async with bench.ground.database.begin() as stored:
        await bench.ground.hold(stored, bench.work)
        now = await _living(stored, bench.source, read.document.document_id)
        if now is not None and _bytes_of(now) != _bytes_of(read.document):
            return False
        if now is not None:
            await stored.documents.add(target, document, into_hidden=True)
            await stored.chunks.put(target, document, copy.chunks)
            for model, rows in read.marked.items():
                await stored.chunks.mark_embedded(target, [copy.ids[row] for row in rows if row in copy.ids], model)
            await stored.revisions.add(target, copy.revisions)
            if read.enrichment is not None:
                enrichment = replace(read.enrichment, document_id=document.document_id)
                await stored.enrichments.put(target, document.base_id, enrichment)
            if read.records:
                await _keep_entries(bench, stored, read.records, copy)
            task = await stored.copies.get(target, bench.task.task_id)
            await stored.copies.update(target, replace(task, done=task.done + 1, updated_at=bench.ground.clock()))
    if now is None:
        # Deleted while it was copied: nothing of it stays.
        await bench.ground.engine.delete_documents(target, document.base_id, {document.document_id})
        await bench.ground.blobs.delete(document.tenant_id, document.document_id)
    return True


async def _keep_entries(bench: Bench, stored: Repositories, records: Sequence[FaqRecord], copy: DocumentCopy) -> None:
    """Entries keep their numbers; those to come are counted from the highest on."""
    base_id = bench.task.target_id
    kept = [
        replace(
            record,
            entry_id=copy.ids[record.entry_id],
            base_id=base_id,
            document_id=copy.document.document_id,
        )
        for record in records
        if record.entry_id in copy.ids
    ]
    await stored.faq.put(bench.target, kept)
    await stored.faq.number(bench.target, base_id, max(record.seq_id for record in records))


async def _living(stored: Repositories, scope: Scope, document_id: str) -> Document | None:
    try:
        document = await stored.documents.get(scope, document_id)
    except NotFound:
        return None
    return None if document.parse_status is ParseStatus.DELETING else document


def _bytes_of(document: Document) -> tuple[int, int]:
    return document.version, document.indexed_version
