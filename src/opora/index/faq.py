"""Keeps FAQ entries inside one open transaction: their chunk, their searched rows, and the work that follows.

Nothing is written to the engine here. A row is searched once a worker has written it; a row that went is dropped by
every search at once, because the database no longer holds it, and is taken out of the engine by a worker.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from opora.domain.faq import FAQ_FILE_TYPE
from opora.domain.faq_entry import FaqDraft, FaqRecord, entry_chunk, form_chunks
from opora.domain.knowledge import Document, KnowledgeBase, ParseStatus
from opora.domain.scope import Scope
from opora.domain.work import Work, WorkKind
from opora.ports import NewId, Repositories

FAQ_TITLE = "FAQ"


@dataclass(frozen=True, slots=True, kw_only=True)
class FaqWriter:
    """``model`` is the identity of the embedder, None where there is none; ``scope`` holds all of the base."""

    stored: Repositories
    scope: Scope
    base: KnowledgeBase
    model: str | None
    now: datetime
    new_id: NewId

    async def add(self, drafts: Sequence[FaqDraft]) -> list[FaqRecord]:
        document = await self._document()
        first = await self.stored.faq.number(self.scope, self.base.base_id, len(drafts)) if drafts else 0
        records = [
            FaqRecord(
                entry_id=self.new_id(),
                seq_id=first + place,
                base_id=self.base.base_id,
                tenant_id=self.base.tenant_id,
                document_id=document.document_id,
                draft=draft,
                created_at=self.now,
                updated_at=self.now,
            )
            for place, draft in enumerate(drafts)
        ]
        await self._put(document, records)
        added = sum(len(form_chunks(record, self.base.faq.index_mode)) for record in records)
        await self._follow(document, count=document.chunk_count + added, embedded=document.embedded_count)
        return records

    async def change(self, records: Mapping[str, FaqRecord]) -> None:
        """Write kept entries in their new state; only questions that are new to them have to be embedded."""
        if not records:
            return
        document = await self._document()
        before = await self.stored.chunks.forms(self.scope, list(records))
        after = {row.chunk_id for record in records.values() for row in form_chunks(record, self.base.faq.index_mode)}
        gone = {row.chunk_id for rows in before.values() for row in rows} - after
        await self.stored.chunks.delete(self.scope, gone)
        await self.stored.faq.release(self.scope, list(records))
        for record in records.values():
            await self.stored.chunks.update(self.scope, entry_chunk(record))
        kept = {row.chunk_id for rows in before.values() for row in rows} - gone
        await self._put(document, list(records.values()), but=kept)
        await self._take_out(document, gone)
        await self._recount(document)

    async def remove(self, entry_ids: Collection[str]) -> None:
        if not entry_ids:
            return
        document = await self._document()
        forms = await self.stored.chunks.forms(self.scope, entry_ids)
        await self.stored.chunks.delete(self.scope, entry_ids)
        await self._take_out(document, {row.chunk_id for rows in forms.values() for row in rows})
        await self._recount(document)

    async def rewrite(self) -> None:
        """Have a worker tell the engine once more what changed without any new text."""
        await self._queue((await self._document()).document_id, WorkKind.REINDEX)

    async def _put(self, document: Document, records: Sequence[FaqRecord], *, but: Collection[str] = ()) -> None:
        mode = self.base.faq.index_mode
        rows = [entry_chunk(record) for record in records]
        rows += [row for record in records for row in form_chunks(record, mode) if row.chunk_id not in but]
        await self.stored.chunks.put(self.scope, document, rows)
        await self.stored.faq.put(self.scope, records)

    async def _document(self) -> Document:
        """The one document that all entries of the base hang on, made when the first one comes."""
        found = await self.stored.documents.by_hash(self.scope, self.base.base_id, FAQ_FILE_TYPE)
        if found is not None:
            return found
        document = Document(
            document_id=self.new_id(),
            base_id=self.base.base_id,
            tenant_id=self.base.tenant_id,
            title=FAQ_TITLE,
            file_name="",
            file_type=FAQ_FILE_TYPE,
            file_size=0,
            file_hash=FAQ_FILE_TYPE,
            parse_status=ParseStatus.COMPLETED,
            indexed_version=1,
            created_at=self.now,
            updated_at=self.now,
        )
        await self.stored.documents.add(self.scope, document)
        return document

    async def _take_out(self, document: Document, gone: Collection[str]) -> None:
        if gone:
            await self.stored.chunks.add_strays(self.scope, document, gone)
            await self._queue(document.document_id, WorkKind.CLEAN_CHUNKS)

    async def _recount(self, document: Document) -> None:
        """Count anew what rows there are after a change that took some away."""
        count = await self.stored.chunks.count_searched(self.scope, document.document_id)
        embedded = 0
        if self.model is not None:
            embedded = await self.stored.chunks.count_searched(self.scope, document.document_id, model=self.model)
        await self._follow(document, count=count, embedded=embedded)

    async def _follow(self, document: Document, *, count: int, embedded: int) -> None:
        """Queue what makes new rows found: by vectors with their words, or by words alone."""
        vectors = self.base.indexing.vector and self.model is not None
        left = vectors and embedded < count
        document = replace(
            document,
            chunk_count=count,
            embedded_count=embedded,
            parse_status=ParseStatus.PROCESSING if left else ParseStatus.COMPLETED,
            error_reason="",
            error_message="",
            updated_at=self.now,
        )
        await self.stored.documents.update(self.scope, document)
        if left:
            await self._queue(document.document_id, WorkKind.EMBED)
            base = (await self.stored.bases.find(self.base.tenant_id, [self.base.base_id]))[0]
            if not base.embedding_model_id and self.model is not None:
                await self.stored.bases.update(self.scope, replace(base, embedding_model_id=self.model))
        elif not vectors:
            await self._queue(document.document_id, WorkKind.REINDEX)

    async def _queue(self, subject: str, kind: WorkKind) -> None:
        await self.stored.work.add(Work.new(kind, subject, of=self.base, work_id=self.new_id(), now=self.now))
