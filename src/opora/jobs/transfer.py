"""Moves a document to another base, or fills a copy of it: rows to the engine first, one transaction, old rows last.

While a document moves, the engine has its rows in both bases, and the database decides which of them are found: it is
in the one base or in the other, never in both and never in none.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from opora.domain.errors import Conflict, NotFound
from opora.domain.knowledge import Chunk, ChunkType, Document, KnowledgeBase, ParseStatus
from opora.domain.scope import Scope
from opora.domain.steps import StepName
from opora.domain.tags import Tag
from opora.domain.work import Work, WorkKind
from opora.index.copies import copied, copied_states, new_ids
from opora.index.reading import all_chunks
from opora.index.writer import write_keywords
from opora.jobs.enrich_queue import queue_enrichment
from opora.jobs.ground import Ground
from opora.ports import Repositories

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Load:
    """A document with its rows, on its way from one base to another."""

    document: Document
    source: KnowledgeBase
    target: KnowledgeBase
    rows: tuple[Chunk, ...]
    embedded: frozenset[str]
    """Rows whose vector serves in the target too."""
    model: str
    embeds: bool
    """Whether the target's rows get vectors: it is searched by meaning, and has a model."""


async def move_document(ground: Ground, work: Work) -> None:
    scope = _both(ground, work.tenant_id, work.base_id, work.aim)
    load = await _load(ground, work, scope, work.subject, work.aim)
    try:
        if load is None or not await _move(ground, work, scope, load):
            await _give_up(ground, work)
    except Conflict as error:
        log.warning("%s stays in its base: %s", work.subject, error)
        await _give_up(ground, work)


async def _move(ground: Ground, work: Work, scope: Scope, load: _Load) -> bool:
    """False where the document can't go there any more; raises `Conflict` where its bytes are there meanwhile."""
    with ground.steps.step(work, StepName.MOVE) as counts:
        counts |= {"chunks": len(load.rows), "vectors": len(load.embedded)}
        tags = await _tags(ground, scope, load)
        ids = {row.chunk_id: row.chunk_id for row in load.rows}
        rows = copied(load.rows, ids, replace(load.document, base_id=load.target.base_id), tags)
        await _to_engine(ground, scope, load, ids, rows, load.document)
        return await _switch(ground, work, scope, load, tags)


async def leave_base(ground: Ground, work: Work) -> None:
    """Take out of the engine what a document left behind in the base that it moved away from."""
    scope = ground.scope_of(work.tenant_id, work.base_id)
    async with ground.database.read() as stored:
        owners = await stored.documents.owners(work.tenant_id, [work.subject])
    if owners.get(work.subject) != work.base_id:
        await ground.engine.delete_documents(scope, work.base_id, {work.subject})
        await ground.graph.delete_documents(scope, work.base_id, {work.subject})
    async with ground.database.begin() as stored:
        await ground.hold(stored, work)
        await stored.work.finish(work.work_id)


async def copy_document(ground: Ground, work: Work) -> None:
    """Fill a new document with the chunks of another one; where that can't be done, its file is read like any other."""
    async with ground.database.read() as stored:
        owners = await stored.documents.owners(work.tenant_id, [work.aim])
    source_id = owners.get(work.aim, work.base_id)
    scope = _both(ground, work.tenant_id, source_id, work.base_id)
    load = await _load(ground, work, scope, work.aim, work.base_id) if owners else None
    if load is None or not load.document.indexed_version:
        await _read_instead(ground, work, scope)
        return
    with ground.steps.step(work, StepName.COPY) as counts:
        counts |= {"chunks": len(load.rows), "vectors": len(load.embedded)}
        await _copy(ground, work, scope, load)


async def _copy(ground: Ground, work: Work, scope: Scope, load: _Load) -> None:
    async with ground.database.read() as stored:
        new = (await stored.documents.get_many(scope, [work.subject])).get(work.subject)
        states = await stored.revisions.of_document(scope, work.aim)
        enrichment = await stored.enrichments.get(scope, work.aim)
    if new is None:
        await _read_instead(ground, work, scope)
        return
    ids = new_ids(load.rows, states, work.aim, work.subject)
    tags = await _tags(ground, scope, load)
    rows = copied(load.rows, ids, new, tags)
    await _to_engine(ground, scope, load, ids, rows, new)
    text = await ground.blobs.get(work.tenant_id, work.aim, load.document.indexed_version, part="text")
    await ground.blobs.put(work.tenant_id, work.subject, new.version, text, part="text")
    async with ground.database.begin() as stored:
        await ground.hold(stored, work)
        await stored.work.finish(work.work_id)
        current = (await stored.documents.get_many(scope, [work.subject])).get(work.subject)
        if current is None or current.parse_status is ParseStatus.DELETING or current.is_cancelled:
            return
        if not await _stands(stored, scope, load):
            await stored.work.add(replace(ground.follow_up(work, WorkKind.COPY_DOCUMENT), aim=work.aim))
            return
        tag_ids = tuple(tags[tag] for tag in load.document.tag_ids if tag in tags)
        current = replace(current, indexed_version=current.version, tag_ids=tag_ids)
        await stored.chunks.put(scope, current, rows)
        await stored.tags.set_on_document(scope, current.document_id, tag_ids)
        await stored.chunks.mark_embedded(scope, [ids[key] for key in load.embedded], load.model)
        await stored.revisions.add(scope, copied_states(states, ids, current))
        if enrichment is not None and enrichment.version == load.document.version:
            made = replace(enrichment, document_id=current.document_id, version=current.version)
            await stored.enrichments.put(scope, current.base_id, made)
        await _ready(ground, stored, scope, work, current, load)


def _both(ground: Ground, tenant_id: str, source_id: str, target_id: str) -> Scope:
    one, other = ground.scope_of(tenant_id, source_id), ground.scope_of(tenant_id, target_id)
    return replace(one, bases=tuple(dict.fromkeys((*one.bases, *other.bases))))


async def _load(ground: Ground, work: Work, scope: Scope, document_id: str, target_id: str) -> _Load | None:
    """The document as it stands, or None: it went, or is being read, or its new base went."""
    async with ground.database.read() as stored:
        document = (await stored.documents.get_many(scope, [document_id])).get(document_id)
        bases = {base.base_id: base for base in await stored.bases.find(work.tenant_id, scope.base_ids)}
        if document is None or document.parse_status is ParseStatus.DELETING or target_id not in bases:
            return None
        source, target = bases.get(document.base_id), bases[target_id]
        if source is None or source == target or document.version != document.indexed_version:
            return None
        rows = tuple(await all_chunks(stored, scope, document_id, with_forms=True))
    embedder = await ground.embedders.of(target) if target.indexing.vector else None
    model = source.embedding_model_id
    aimed = target.embedding_model_id or (model if embedder is None else embedder.card.identity)
    embedded: set[str] = set()
    if target.indexing.vector and model and aimed == model:
        async with ground.database.read() as stored:
            embedded = await stored.chunks.ids(replace(scope, document_ids=frozenset({document_id})), model=model)
    return _Load(
        document=document,
        source=source,
        target=target,
        rows=rows,
        embedded=frozenset(embedded),
        model=model,
        embeds=embedder is not None,
    )


async def _tags(ground: Ground, scope: Scope, load: _Load) -> dict[str, str]:
    """The target's tags by those of the source: of the same name, made where there is none."""
    worn = {tag_id for row in load.rows for tag_id in row.tag_ids} | set(load.document.tag_ids)
    if load.source.base_id == load.target.base_id or not worn:
        return {tag_id: tag_id for tag_id in worn}
    found: dict[str, str] = {}
    async with ground.database.begin() as stored:
        for one in await stored.tags.browse(scope, load.source.base_id):
            if one.tag.tag_id in worn:
                found[one.tag.tag_id] = await _same_tag(ground, stored, scope, one.tag, load.target.base_id)
    return found


async def _same_tag(ground: Ground, stored: Repositories, scope: Scope, tag: Tag, base_id: str) -> str:
    there = await stored.tags.by_name(scope, base_id, tag.name)
    if there is not None:
        return there.tag_id
    now = ground.clock()
    new = replace(tag, tag_id=ground.new_id(), base_id=base_id, created_at=now, updated_at=now)
    await stored.tags.add(scope, new)
    return new.tag_id


async def _to_engine(
    ground: Ground, scope: Scope, load: _Load, ids: dict[str, str], rows: Sequence[Chunk], document: Document
) -> None:
    """Vectors as they are, then words and tags as the target has them; what has no vector yet is embedded later.

    What an attempt that died left in the target goes first."""
    base_id = load.target.base_id
    await ground.engine.delete_documents(scope, base_id, {document.document_id})
    taken = {key: ids[key] for key in load.embedded}
    if taken:
        names = {load.document.document_id: document.document_id}
        await ground.engine.copy_base(scope, load.source.base_id, base_id, taken, document_ids=names)
    shown = [replace(row, enabled=row.enabled and document.enabled) for row in rows]
    await write_keywords(ground.engine, scope, shown, load.target.indexing)


async def _stands(stored: Repositories, scope: Scope, load: _Load) -> bool:
    """Whether the document is still what was copied in the engine: nobody edited it on the way."""
    current = (await stored.documents.get_many(scope, [load.document.document_id])).get(load.document.document_id)
    if current is None or current.parse_status is ParseStatus.DELETING:
        return False
    same = (current.version, current.enabled, current.base_id, current.tag_ids)
    before = load.document
    if same != (before.version, before.enabled, before.base_id, before.tag_ids):
        return False
    return tuple(await all_chunks(stored, scope, before.document_id, with_forms=True)) == load.rows


async def _switch(ground: Ground, work: Work, scope: Scope, load: _Load, tags: dict[str, str]) -> bool:
    async with ground.database.begin() as stored:
        await ground.hold(stored, work)
        current = (await stored.documents.get_many(scope, [work.subject])).get(work.subject)
        there = await stored.bases.find(work.tenant_id, [work.aim])
        if current is None or not there or current.parse_status is ParseStatus.DELETING:
            return False
        await stored.work.finish(work.work_id)
        if not await _stands(stored, scope, load):
            # Once more, with what stands now.
            await stored.work.add(replace(ground.follow_up(work, WorkKind.MOVE_DOCUMENT), aim=work.aim))
            return True
        tag_ids = tuple(tags[tag] for tag in current.tag_ids if tag in tags)
        document = replace(current, base_id=work.aim, tag_ids=tag_ids)
        await stored.documents.move(scope, document)
        await stored.tags.set_on_document(scope, work.subject, tag_ids)
        lacking = {row.chunk_id for row in load.rows} - load.embedded
        await stored.chunks.mark_embedded(scope, lacking, "")
        await stored.work.add(ground.follow_up(work, WorkKind.LEAVE_BASE))
        await _ready(ground, stored, scope, replace(work, base_id=work.aim), document, load)
    return True


async def _ready(
    ground: Ground, stored: Repositories, scope: Scope, work: Work, document: Document, load: _Load
) -> None:
    """Record how much of the document is there in its base, and queue what it lacks."""
    searched = [row for row in load.rows if row.is_searched]
    own = [row for row in searched if row.chunk_type is not ChunkType.QUESTION]
    lacks = any(row.chunk_id not in load.embedded for row in searched)
    embeds = load.embeds and lacks
    failed = load.document.parse_status is ParseStatus.FAILED and not embeds
    status = ParseStatus.PROCESSING if embeds else ParseStatus.FAILED if failed else ParseStatus.COMPLETED
    document = replace(
        document,
        file_type=load.document.file_type,
        metadata=load.document.metadata,
        file_metadata=load.document.file_metadata,
        parse_status=status,
        error_reason=load.document.error_reason if failed else "",
        error_message=load.document.error_message if failed else "",
        chunk_count=len(own),
        embedded_count=sum(row.chunk_id in load.embedded for row in own),
        updated_at=ground.clock(),
    )
    await stored.documents.update(scope, document)
    if load.embedded and not load.target.embedding_model_id:
        await stored.bases.update(scope, replace(load.target, embedding_model_id=load.model))
    if embeds:
        await stored.work.add(ground.follow_up(work, WorkKind.EMBED))
    else:
        await queue_enrichment(ground, stored, scope, work)


async def _read_instead(ground: Ground, work: Work, scope: Scope) -> None:
    async with ground.database.begin() as stored:
        await ground.hold(stored, work)
        await stored.work.finish(work.work_id)
        try:
            await stored.documents.get(scope, work.subject)
        except NotFound:
            return
        await stored.work.add(ground.follow_up(work, WorkKind.INGEST))


async def _give_up(ground: Ground, work: Work) -> None:
    """The document stays where it is, or is gone: nothing of it stays behind in the other base."""
    async with ground.database.read() as stored:
        owners = await stored.documents.owners(work.tenant_id, [work.subject])
    if owners.get(work.subject) != work.aim:
        target = ground.scope_of(work.tenant_id, work.aim)
        await ground.engine.delete_documents(target, work.aim, {work.subject})
    async with ground.database.begin() as stored:
        await ground.hold(stored, work)
        await stored.work.finish(work.work_id)
