"""Takes one document from stored bytes to chunks that are found by keyword; vectors are the next job's.

The order is what makes a crash harmless. New rows go to the engine first, where search does not see them, because it
drops what the database does not hold. One transaction then puts the new chunks in the place of the old, queues the
next steps and ends this one. The old rows are taken out of the engine last. Each step can be done twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from opora.domain.enrichment import MADE_BY_MODELS
from opora.domain.errors import NotFound, ParseFailed
from opora.domain.knowledge import (
    KEPT_VERSION,
    Chunk,
    Document,
    KnowledgeBase,
    Origin,
    ParsedDocument,
    ParseReason,
    ParseStatus,
)
from opora.domain.scope import Scope
from opora.domain.steps import StepName
from opora.domain.work import Work, WorkKind
from opora.index.edits import applied
from opora.index.writer import write_keywords
from opora.jobs.enrich_queue import queue_enrichment
from opora.jobs.ground import Ground
from opora.ports import Repositories

LOST_EDITS = "lost_edits"
"""In a document's metadata: how many edited chunks its file no longer has. They are kept among the revisions."""


async def ingest(ground: Ground, work: Work) -> None:
    """Raises `ParseFailed` when the document can't be read: then it is for `fail` to record."""
    scope = ground.scope_of(work.tenant_id, work.base_id)
    begun = await _begin(ground, work, scope)
    if begun is None:
        return
    document, base = begun
    embedder = await ground.embedders.of(base)
    model = None if embedder is None else embedder.card.identity
    if document.indexed_version == 0:
        # An attempt that died, perhaps on other bytes, may have left rows that no table knows of.
        await ground.engine.delete_documents(scope, base.base_id, {document.document_id})
    parsed, chunks = await _read(ground, work, document, base)
    new = await _announce(ground, work, scope, document, chunks)
    if new is None:
        return
    with ground.steps.step(work, StepName.KEYWORDS) as counts:
        counts |= {"chunks": sum(chunk.is_searched for chunk in new)}
        await write_keywords(ground.engine, scope, new, base.indexing)
    with ground.steps.step(work, StepName.SWITCH) as counts:
        counts |= {"new": len(new), "kept": len(chunks) - len(new)}
        await _switch(ground, work, scope, parsed, document, chunks, model)


async def _begin(ground: Ground, work: Work, scope: Scope) -> tuple[Document, KnowledgeBase] | None:
    async with ground.database.begin() as stored:
        document = await _living(stored, scope, work.subject)
        found = await stored.bases.find(work.tenant_id, [work.base_id])
        if document is None or document.is_cancelled or not found:
            await stored.work.finish(work.work_id)
            return None
        document = replace(
            document,
            parse_status=ParseStatus.PROCESSING,
            error_reason="",
            error_message="",
            updated_at=ground.clock(),
        )
        await stored.documents.update(scope, document)
    return document, found[0]


async def _read(
    ground: Ground, work: Work, document: Document, base: KnowledgeBase
) -> tuple[ParsedDocument, list[Chunk]]:
    name = (document.tenant_id, document.document_id, document.version)
    path = ground.blobs.path(*name)
    if not await asyncio.to_thread(Path(path).exists):
        raise ParseFailed(ParseReason.DAMAGED, "The stored file is gone.", hint="Upload the document again.")
    with ground.steps.step(work, StepName.READ) as counts:
        parsed = await ground.parser.parse(path, file_name=document.file_name)
        counts |= {"bytes": document.file_size, "blocks": len(parsed.blocks), "characters": len(parsed.text)}
    with ground.steps.step(work, StepName.SPLIT) as counts:
        chunks = await asyncio.to_thread(ground.splitter.split, parsed, base.chunking, owner=document)
        counts |= {"chunks": len(chunks)}
    if not any(chunk.is_searched for chunk in chunks):
        raise ParseFailed(
            ParseReason.NO_TEXT,
            "The document holds no text.",
            hint="A scanned document needs text recognition before it is uploaded.",
        )
    await ground.blobs.put(*name, parsed.text.encode("utf-8", "replace"), part="text")
    return parsed, chunks


async def _announce(
    ground: Ground, work: Work, scope: Scope, document: Document, chunks: Sequence[Chunk]
) -> list[Chunk] | None:
    """The chunks that the engine does not have yet. A replacement notes their ids before the engine gets them, so
    that they are taken out again if it never comes to the switch; None when the document was deleted meanwhile.
    A first version needs no note: until its switch, all rows of the document may be taken out."""
    if document.indexed_version == 0:
        return list(chunks)
    ids = [chunk.chunk_id for chunk in chunks if chunk.is_searched]
    async with ground.database.begin() as stored:
        await ground.hold(stored, work)
        if await _current(stored, scope, document) is None:
            await stored.work.finish(work.work_id)
            return None
        there = await stored.chunks.get_many(scope, ids)
        new = [chunk for chunk in chunks if chunk.chunk_id not in there]
        await stored.chunks.add_strays(scope, document, [chunk.chunk_id for chunk in new])
    return new


async def _switch(
    ground: Ground,
    work: Work,
    scope: Scope,
    parsed: ParsedDocument,
    begun: Document,
    chunks: Sequence[Chunk],
    model: str | None,
) -> None:
    async with ground.database.begin() as stored:
        await ground.hold(stored, work)
        document = await _current(stored, scope, begun)
        found = await stored.bases.find(work.tenant_id, [work.base_id])
        await stored.work.finish(work.work_id)
        if document is None or not found:
            return
        if document.indexed_version:
            chunks = await _with_made(stored, scope, chunks)
        edits = applied(chunks, await stored.revisions.of_document(scope, document.document_id))
        chunks = edits.chunks
        gone = await stored.chunks.replace_document(scope, document, chunks)
        if document.indexed_version or document.version > 1:
            await stored.chunks.add_strays(scope, document, gone)
            await stored.work.add(ground.follow_up(work, WorkKind.CLEAN_CHUNKS))
        count, left, own_left = await _counts(stored, scope, document, chunks, model)
        vectors = found[0].indexing.vector and model is not None
        if vectors and left:
            await stored.work.add(ground.follow_up(work, WorkKind.EMBED))
            await _adopt_model(stored, scope, found[0], model)
        own_title = document.origin is Origin.MANUAL or document.title != document.title_from_name
        document = replace(
            document,
            title=document.title if own_title else parsed.title.strip() or document.title,
            file_type=parsed.file_type,
            metadata=_metadata(parsed, document, len(edits.lost)),
            file_metadata=dict(parsed.metadata),
            parse_status=ParseStatus.PROCESSING if vectors and left else ParseStatus.COMPLETED,
            indexed_version=document.version,
            chunk_count=count,
            embedded_count=count - own_left,
            updated_at=ground.clock(),
        )
        await stored.documents.update(scope, document)
        if not (vectors and left):
            await queue_enrichment(ground, stored, scope, work)


def _metadata(parsed: ParsedDocument, document: Document, lost: int) -> dict[str, Any]:
    """What the file says, below what people said; and how many of their edits have no place in it any more.

    A value that an earlier version of the file said, and nobody changed, goes with that version."""
    said = document.file_metadata
    kept = {
        name: value
        for name, value in document.metadata.items()
        if name != LOST_EDITS and not (name in said and said[name] == value)
    }
    return {**parsed.metadata, **kept, **({LOST_EDITS: lost} if lost else {})}


async def _with_made(stored: Repositories, scope: Scope, chunks: Sequence[Chunk]) -> list[Chunk]:
    """What a model made for a chunk stays with it as long as it stands."""
    there = await stored.chunks.get_many(replace(scope, include_disabled=True), [chunk.chunk_id for chunk in chunks])
    made = {
        key: {name: old.metadata[name] for name in MADE_BY_MODELS if name in old.metadata} for key, old in there.items()
    }
    return [
        replace(chunk, metadata={**chunk.metadata, **made[chunk.chunk_id]}) if made.get(chunk.chunk_id) else chunk
        for chunk in chunks
    ]


async def _adopt_model(stored: Repositories, scope: Scope, base: KnowledgeBase, model: str | None) -> None:
    """A base without vectors takes the model that will make its first ones."""
    if model is not None and not base.embedding_model_id:
        await stored.bases.update(scope, replace(base, embedding_model_id=model))


async def _counts(
    stored: Repositories, scope: Scope, document: Document, chunks: Sequence[Chunk], model: str | None
) -> tuple[int, int, int]:
    """Searched chunks, rows without a vector, and how many of these are chunks and not forms of their questions."""
    count = sum(chunk.is_searched for chunk in chunks)
    if model is None:
        return count, count, count
    which = (scope, document.document_id, model)
    left = await stored.chunks.count_unembedded(*which)
    return count, left, await stored.chunks.count_unembedded(*which, with_forms=False) if left else 0


async def fail(ground: Ground, work: Work, reason: str, message: str) -> None:
    """End the work and the document, saying why; nothing of a first version stays behind."""
    scope = ground.scope_of(work.tenant_id, work.base_id)
    async with ground.database.begin() as stored:
        await ground.hold(stored, work)
        document = await _living(stored, scope, work.subject)
        await stored.work.finish(work.work_id)
        if document is None or document.is_cancelled:
            return
        replaced = work.kind is WorkKind.INGEST and document.indexed_version > 0
        if work.kind is WorkKind.INGEST:
            await stored.work.add(ground.follow_up(work, WorkKind.CLEAN_CHUNKS))
        document = replace(
            document,
            parse_status=ParseStatus.FAILED,
            error_reason=reason,
            error_message=f"{message} {KEPT_VERSION}" if replaced else message,
            updated_at=ground.clock(),
        )
        await stored.documents.update(scope, document)


async def _living(stored: Repositories, scope: Scope, document_id: str) -> Document | None:
    try:
        document = await stored.documents.get(scope, document_id)
    except NotFound:
        return None
    return None if document.parse_status is ParseStatus.DELETING else document


async def _current(stored: Repositories, scope: Scope, begun: Document) -> Document | None:
    """The document as it stands now; None when it is gone, or its reading was cancelled, or it has new bytes and
    another job follows."""
    document = await _living(stored, scope, begun.document_id)
    if document is None or document.is_cancelled or document.version != begun.version:
        return None
    return document
