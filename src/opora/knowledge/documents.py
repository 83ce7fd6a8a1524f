"""Use cases on documents: taking them in, reading them back, removing them, waiting for them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import replace

from opora.domain.enrichment import Enrichment
from opora.domain.errors import NotFound, ParseFailed, Timeout
from opora.domain.knowledge import Document, ParseReason, ParseStatus
from opora.domain.scope import Scope
from opora.domain.work import WorkKind
from opora.knowledge.intake import SETTLED, Intake, visible
from opora.ports import Blobs, Clock, Database, Jobs, Listed, NewId, Page, Parser, Progress

_OF_DOCUMENTS = (WorkKind.INGEST, WorkKind.EMBED, WorkKind.ENRICH, WorkKind.REINDEX, WorkKind.CLEAN_CHUNKS)
"""What may wait for a document, and is taken back when it is deleted."""


class Documents(Intake):
    """``add_file``, ``add_text`` and ``retry`` are in `Intake`."""

    def __init__(
        self,
        database: Database,
        blobs: Blobs,
        parser: Parser,
        jobs: Jobs,
        *,
        clock: Clock,
        new_id: NewId,
        upload_limit: int,
    ) -> None:
        super().__init__(database, blobs, jobs, clock=clock, new_id=new_id, upload_limit=upload_limit)
        self._parser = parser

    async def get(self, scope: Scope, document_id: str) -> Document:
        async with self._database.read() as stored:
            document = await stored.documents.get(scope, document_id)
        return visible(document)

    async def browse(
        self, scope: Scope, page: Page, *, status: ParseStatus | None = None, name: str = "", source_prefix: str = ""
    ) -> Listed[Document]:
        async with self._database.read() as stored:
            return await stored.documents.browse(scope, page, status=status, name=name, source_prefix=source_prefix)

    async def delete(self, scope: Scope, document_id: str) -> None:
        """Hidden from search and lists at once; a worker takes it out of the engine, the files and the database."""
        async with self._database.begin() as stored:
            document = visible(await stored.documents.get(scope, document_id))
            gone = replace(document, parse_status=ParseStatus.DELETING, updated_at=self._clock())
            await stored.documents.update(scope, gone)
            for kind in _OF_DOCUMENTS:
                await stored.work.cancel(kind, document_id)
            await stored.work.add(self._queued(document, WorkKind.DELETE_DOCUMENT))
        self._jobs.wake()

    async def data(self, scope: Scope, document_id: str) -> tuple[Document, bytes]:
        """The document and the bytes that came in last."""
        document = await self.get(scope, document_id)
        return document, await self._blobs.get(document.tenant_id, document_id, document.version)

    async def text(self, scope: Scope, document_id: str) -> str:
        """The text that the places of the searched chunks point into."""
        document = _read(await self.get(scope, document_id))
        data = await self._blobs.get(document.tenant_id, document_id, document.indexed_version, part="text")
        return data.decode("utf-8")

    async def render_page(self, scope: Scope, document_id: str, page: int) -> bytes:
        """A page (from 1) of the version that is searched, as PNG."""
        document = _read(await self.get(scope, document_id))
        if document.file_type != "pdf":
            raise ParseFailed(ParseReason.UNSUPPORTED, "Only PDF documents have pages that can be shown.")
        path = self._blobs.path(document.tenant_id, document_id, document.indexed_version)
        return await self._parser.render_page(path, page)

    async def progress(self, scope: Scope, document_id: str) -> Progress:
        async with self._database.read() as stored:
            document = visible(await stored.documents.get(scope, document_id))
            ahead = await stored.work.chunks_ahead(document_id)
        left = None if ahead is None else self._jobs.seconds_for(ahead)
        return Progress(
            document_id=document_id,
            status=document.parse_status,
            chunks=document.chunk_count,
            embedded=document.embedded_count,
            seconds_left=0.0 if document.parse_status in SETTLED else left,
        )

    async def enrichment(self, scope: Scope, document_id: str) -> tuple[Enrichment, bool]:
        """How far a chat model has enriched the document, and whether work on that waits or runs."""
        async with self._database.read() as stored:
            document = visible(await stored.documents.get(scope, document_id))
            state = await stored.enrichments.get(scope, document_id)
            waiting = await stored.work.waiting(document_id)
        if state is None or state.version != document.indexed_version:
            state = Enrichment(document_id=document_id, version=document.indexed_version)
        return state, WorkKind.ENRICH in waiting

    async def wait(self, scope: Scope, ids: Collection[str], *, timeout: float) -> list[Document]:  # noqa: ASYNC109
        """Wait until each document is completed, failed or gone; those that are left come back in the order of ids.

        Raises `Timeout` with the ids that were not done in ``details['document_ids']``.
        """
        open_ids = list(ids)
        try:
            async with asyncio.timeout(timeout):
                while True:
                    seen = self._jobs.changes
                    async with self._database.read() as stored:
                        found = await stored.documents.get_many(scope, ids)
                    found = {key: doc for key, doc in found.items() if doc.parse_status is not ParseStatus.DELETING}
                    open_ids = [key for key in ids if key in found and found[key].parse_status not in SETTLED]
                    if not open_ids:
                        return [found[key] for key in ids if key in found]
                    await self._jobs.changed(seen)
        except TimeoutError as error:
            message = f"{len(open_ids)} documents are not ready after {timeout:g} s."
            hint = "They go on being processed; ask again later."
            raise Timeout(message, hint=hint, details={"document_ids": open_ids}) from error


def _read(document: Document) -> Document:
    if document.indexed_version == 0:
        message = document.error_message or "The document has not been read yet."
        raise NotFound(message, details={"document_id": document.document_id})
    return document
