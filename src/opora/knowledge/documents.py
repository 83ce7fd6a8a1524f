"""Use cases on documents: taking them in, reading them back, removing them, waiting for them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from opora.domain.enrichment import Enrichment
from opora.domain.errors import EngineError, InvalidInput, NotFound, ParseFailed, Timeout
from opora.domain.knowledge import KEPT_VERSION, Document, ParseReason, ParseStatus
from opora.domain.scope import Scope
from opora.domain.steps import Step
from opora.domain.work import WorkKind
from opora.knowledge.intake import SETTLED, checked_folder, visible
from opora.knowledge.metadata import checked_metadata
from opora.knowledge.tags import fitting_tags, put_tags
from opora.knowledge.versions import Versions
from opora.ports import Blobs, Clock, Database, Jobs, Listed, NewId, Page, Parser, Progress, SearchEngine
from opora.text.fold import clean
from opora.text.names import clean_label

log = logging.getLogger(__name__)

MAX_TITLE_CHARS = 255
MAX_DESCRIPTION_CHARS = 4_000

_OF_DOCUMENTS = (WorkKind.INGEST, WorkKind.EMBED, WorkKind.ENRICH, WorkKind.REINDEX, WorkKind.CLEAN_CHUNKS)
"""What may wait for a document, and is taken back when it is deleted."""


class Documents(Versions):
    """``add_file``, ``add_text`` and ``retry`` are in `Intake`, newer versions in `Versions`."""

    def __init__(
        self,
        database: Database,
        blobs: Blobs,
        parser: Parser,
        engine: SearchEngine,
        jobs: Jobs,
        *,
        clock: Clock,
        new_id: NewId,
        upload_limit: int,
        queue_limit: int = 0,
    ) -> None:
        super().__init__(
            database, blobs, jobs, clock=clock, new_id=new_id, upload_limit=upload_limit, queue_limit=queue_limit
        )
        self._parser = parser
        self._engine = engine

    async def get(self, scope: Scope, document_id: str) -> Document:
        async with self._database.read() as stored:
            document = await stored.documents.get(scope, document_id)
        return visible(document)

    async def browse(
        self,
        scope: Scope,
        page: Page,
        *,
        status: ParseStatus | None = None,
        name: str = "",
        source_prefix: str = "",
        folder: str | None = None,
    ) -> Listed[Document]:
        """``folder`` holds what lies in the folders inside it too."""
        inside = None if folder is None else checked_folder(folder)
        async with self._database.read() as stored:
            return await stored.documents.browse(
                scope, page, status=status, name=name, source_prefix=source_prefix, folder=inside
            )

    async def folders(self, scope: Scope) -> dict[str, int]:
        """The folders of the scope's documents, and how many lie in each itself."""
        async with self._database.read() as stored:
            return await stored.documents.folders(scope)

    async def update(
        self,
        scope: Scope,
        document_id: str,
        *,
        title: str | None = None,
        description: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        folder: str | None = None,
        enabled: bool | None = None,
        tag_ids: Collection[str] | None = None,
    ) -> Document:
        """Change what is said of a document, its tags, or whether search sees it; its content stays. All or nothing.

        A document that is switched off is out of every search at once. The engine is told too, so that its rows take
        nobody else's place among the candidates.
        """
        async with self._database.begin() as stored:
            before = visible(await stored.documents.get(scope, document_id))
            document = replace(
                before,
                title=before.title if title is None else _title(title),
                description=before.description if description is None else _described(description),
                metadata=before.metadata if metadata is None else checked_metadata(metadata),
                folder=before.folder if folder is None else checked_folder(folder),
                enabled=before.enabled if enabled is None else enabled,
                updated_at=self._clock(),
            )
            await stored.documents.update(scope, document)
            tagged: Mapping[str, tuple[str, ...]] = {}
            if tag_ids is not None:
                document, tagged = await put_tags(stored, scope, document, tag_ids)
            switched = document.enabled != before.enabled
            if switched or tagged:
                # What the engine knows of its rows is written by a worker, whatever becomes of telling it at once.
                await stored.work.add(self._queued(document, WorkKind.REINDEX))
            hidden = await stored.chunks.ids(_of(scope, document)) if switched and not document.enabled else set()
        await self._tell(scope, document, hidden, tagged)
        self._jobs.wake()
        return document

    async def check(
        self,
        scope: Scope,
        document_id: str,
        *,
        title: str | None = None,
        description: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        folder: str | None = None,
        tag_ids: Collection[str] | None = None,
    ) -> None:
        """Raises what `update` would raise for these changes, and changes nothing."""
        for given, checked in ((title, _title), (description, _described), (folder, checked_folder)):
            if given is not None:
                checked(given)
        if metadata is not None:
            checked_metadata(metadata)
        async with self._database.read() as stored:
            document = visible(await stored.documents.get(scope, document_id))
            if tag_ids is not None:
                await fitting_tags(stored, scope, document, tag_ids)

    async def _tell(
        self, scope: Scope, document: Document, hidden: Collection[str], tagged: Mapping[str, tuple[str, ...]]
    ) -> None:
        try:
            if hidden:
                await self._engine.set_enabled(scope, document.base_id, dict.fromkeys(hidden, False))
            if tagged:
                await self._engine.set_tags(scope, document.base_id, tagged)
        except EngineError as error:
            log.warning("The engine is told later that %s changed: %s", document.document_id, error)

    async def get_many(self, scope: Scope, document_ids: Sequence[str]) -> list[Document]:
        """In the given order, each once; raises `NotFound` naming one that is not there."""
        async with self._database.read() as stored:
            return [visible(await stored.documents.get(scope, key)) for key in dict.fromkeys(document_ids)]

    async def put_in_folder(self, scope: Scope, document_ids: Sequence[str], folder: str) -> None:
        inside, now = checked_folder(folder), self._clock()
        async with self._database.begin() as stored:
            for document_id in dict.fromkeys(document_ids):
                document = visible(await stored.documents.get(scope, document_id))
                await stored.documents.update(scope, replace(document, folder=inside, updated_at=now))

    async def delete(self, scope: Scope, document_id: str) -> None:
        """Hidden from search and lists at once; a worker takes it out of the engine, the files and the database."""
        await self.delete_many(scope, [document_id])

    async def delete_many(self, scope: Scope, document_ids: Sequence[str]) -> None:
        """All of them, or none where one is not there."""
        async with self._database.begin() as stored:
            for document_id in dict.fromkeys(document_ids):
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

    async def steps(self, scope: Scope, document_id: str) -> list[Step]:
        """What its processing did, for the last attempts; oldest first."""
        async with self._database.read() as stored:
            visible(await stored.documents.get(scope, document_id))
            return await stored.steps.of_document(scope, document_id)

    async def cancel(self, scope: Scope, document_id: str) -> Document:
        """Take back its reading, or the making of its vectors; one that is settled stays as it is.

        What was searched before is searched still.
        """
        async with self._database.begin() as stored:
            document = visible(await stored.documents.get(scope, document_id))
            if document.parse_status in SETTLED:
                return document
            for kind in (WorkKind.INGEST, WorkKind.EMBED, WorkKind.ENRICH, WorkKind.COPY_DOCUMENT):
                await stored.work.cancel(kind, document_id)
            document = replace(
                document,
                parse_status=ParseStatus.FAILED,
                error_reason=ParseReason.CANCELLED,
                error_message=_cancelled(document),
                updated_at=self._clock(),
            )
            await stored.documents.update(scope, document)
            await stored.work.add(self._queued(document, WorkKind.CLEAN_CHUNKS))
        self._jobs.interrupt(document_id)
        self._jobs.wake()
        return document

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


def _cancelled(document: Document) -> str:
    if document.indexed_version == document.version:
        return "Its embedding was cancelled: it is found by its words, and by meaning as far as that had come."
    return f"Its reading was cancelled. {KEPT_VERSION if document.indexed_version else ''}".strip()


def _of(scope: Scope, document: Document) -> Scope:
    """All rows of the one document."""
    return replace(scope, document_ids=frozenset({document.document_id}), tag_ids=None, include_disabled=True)


def _title(title: str) -> str:
    cleaned = clean_label(title)
    if not cleaned:
        raise InvalidInput.of("title", "A document needs a title.")
    if len(cleaned) > MAX_TITLE_CHARS:
        raise InvalidInput.of("title", f"A title has at most {MAX_TITLE_CHARS} characters.")
    return cleaned


def _described(description: str) -> str:
    if len(description) > MAX_DESCRIPTION_CHARS:
        raise InvalidInput.of("description", f"A description has at most {MAX_DESCRIPTION_CHARS} characters.")
    return clean(description).strip()
