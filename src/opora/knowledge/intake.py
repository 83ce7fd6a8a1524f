"""Takes documents in: bytes to the disk first, then one transaction with the row and the work that follows."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from opora.domain.errors import Busy, Conflict, InvalidInput, NotFound, TooLarge
from opora.domain.faq import FAQ_FILE_TYPE
from opora.domain.knowledge import Document, Origin, ParseReason, ParseStatus
from opora.domain.scope import Scope
from opora.domain.work import Work, WorkKind
from opora.knowledge.metadata import checked_metadata
from opora.ports import Blobs, Clock, Database, Jobs, NewId, Repositories
from opora.text.fold import clean, is_blank
from opora.text.folders import clean_folder
from opora.text.names import clean_file_name, clean_label

UPLOAD_LIMIT = 50 * 1024 * 1024
SETTLED = frozenset({ParseStatus.COMPLETED, ParseStatus.FAILED})
MAX_SOURCE_CHARS = 4_000


class Intake:
    def __init__(
        self,
        database: Database,
        blobs: Blobs,
        jobs: Jobs,
        *,
        clock: Clock,
        new_id: NewId,
        upload_limit: int = UPLOAD_LIMIT,
        queue_limit: int = 0,
    ) -> None:
        """``queue_limit`` is how much work may wait before more is refused; 0 is any."""
        self._database = database
        self._blobs = blobs
        self._jobs = jobs
        self._clock = clock
        self._new_id = new_id
        self._upload_limit = upload_limit
        self._queue_limit = queue_limit
        self._replacing = asyncio.Lock()

    async def add_file(
        self,
        scope: Scope,
        base_id: str,
        *,
        file_name: str,
        data: bytes,
        source: str = "",
        title: str = "",
        metadata: Mapping[str, Any] | None = None,
        folder: str = "",
        origin: Origin = Origin.FILE,
        replace: bool = False,
    ) -> Document:
        """Store a file and queue it. Raises `Conflict` naming the document when the base has the same bytes.

        With ``replace``, a document of the same source takes the new bytes in place, keeping its id; the same bytes
        from the same source give the existing document back.
        """
        self._check_size(data)
        await self._check_queue()
        file_hash = await hash_of(data)
        now = self._clock()
        name = clean_file_name(file_name)
        document = Document(
            document_id=self._new_id(),
            base_id=base_id,
            tenant_id=scope.owner_of(base_id),
            title="",
            file_name=name,
            file_type="",
            file_size=len(data),
            file_hash=file_hash,
            source=_source(source),
            folder=checked_folder(folder),
            origin=origin,
            metadata=checked_metadata(metadata),
            created_at=now,
            updated_at=now,
        )
        document = titled(document, title)
        if not (replace and source):
            return await self._add(scope, document, data)
        async with self._replacing:  # two uploads of one source must not write to the same version
            async with self._database.read() as stored:
                earlier = await _of_source(stored, scope, base_id, document.source)
            replaced = None if earlier is None else await self._replace(scope, earlier, document, data)
            return replaced or await self._add(scope, document, data)

    async def _check_queue(self) -> None:
        """Raises `Busy` where too much waits already: whoever uploads waits, and nothing piles up without end."""
        if self._queue_limit:
            async with self._database.read() as stored:
                waiting = await stored.work.pending()
            if waiting >= self._queue_limit:
                raise Busy(
                    f"{waiting:,} pieces of work wait already; no more documents are taken in just now.",
                    hint="Try again later, or start more workers (opora worker).",
                    details={"waiting": waiting, "limit": self._queue_limit},
                )

    async def add_text(
        self,
        scope: Scope,
        base_id: str,
        *,
        title: str,
        content: str,
        source: str = "",
        metadata: Mapping[str, Any] | None = None,
        folder: str = "",
    ) -> Document:
        """Store Markdown that somebody wrote; its name is its title."""
        check_text(content)
        if not clean_label(title):
            raise InvalidInput.of("title", "A text needs a title.")
        return await self.add_file(
            scope,
            base_id,
            file_name=clean_file_name(f"{title.replace('/', ' ')}.md"),
            data=clean(content).encode(),
            source=source,
            title=title,
            metadata=metadata,
            folder=folder,
            origin=Origin.MANUAL,
        )

    async def _add(self, scope: Scope, document: Document, data: bytes) -> Document:
        # Looked up first, so that the usual case of the same bytes writes nothing; the transaction decides.
        async with self._database.read() as stored:
            same = await stored.documents.by_hash(scope, document.base_id, document.file_hash)
        if same is not None:
            raise _conflict(same)
        await self._blobs.put(document.tenant_id, document.document_id, document.version, data)
        try:
            async with self._database.begin() as stored:
                await stored.documents.add(scope, document)
                await stored.work.add(self._queued(document, WorkKind.INGEST))
        except (Conflict, NotFound):
            await self._blobs.delete(document.tenant_id, document.document_id)
            raise
        self._jobs.wake()
        return document

    async def _replace(self, scope: Scope, earlier: Document, new: Document, data: bytes) -> Document | None:
        """The document with its new content; None when it was deleted meanwhile."""
        if earlier.file_hash == new.file_hash:
            return await self._again(scope, earlier)
        where = (earlier.tenant_id, earlier.document_id, earlier.version + 1)
        await self._blobs.put(*where, data)
        try:
            async with self._database.begin() as stored:
                document = await self._in_place(stored, scope, earlier, new)
        except Conflict:
            await self._blobs.delete_version(*where)
            raise
        if document is None:
            await self._blobs.delete(earlier.tenant_id, earlier.document_id)
            return None
        self._jobs.wake()
        return document

    async def _in_place(self, stored: Repositories, scope: Scope, earlier: Document, new: Document) -> Document | None:
        current = (await stored.documents.get_many(scope, [earlier.document_id])).get(earlier.document_id)
        if current is None or current.parse_status is ParseStatus.DELETING:
            return None
        same = await stored.documents.by_hash(scope, earlier.base_id, new.file_hash)
        if same is not None:
            raise _conflict(same)
        document = replace(
            current,
            title=new.title,
            origin=new.origin,
            file_name=new.file_name,
            file_size=new.file_size,
            file_hash=new.file_hash,
            metadata=new.metadata,
            parse_status=ParseStatus.PENDING,
            error_reason="",
            error_message="",
            version=earlier.version + 1,
            updated_at=new.updated_at,
        )
        await stored.documents.update(scope, document)
        await stored.work.cancel(WorkKind.EMBED, document.document_id)
        await stored.work.add(self._queued(document, WorkKind.INGEST))
        return document

    async def _again(self, scope: Scope, document: Document) -> Document:
        """The same bytes again: nothing to do, unless what failed then was a service and not the bytes."""
        if document.error_reason not in (ParseReason.EMBEDDING, ParseReason.INDEXING, ParseReason.CANCELLED):
            return document
        return await self.retry(scope, document.document_id)

    async def retry(self, scope: Scope, document_id: str) -> Document:
        """Take up a document again, from the start; one that is under way is left alone."""
        async with self._database.begin() as stored:
            document = visible(await stored.documents.get(scope, document_id))
            check_has_file(document)
            if document.parse_status in SETTLED:
                document = replace(
                    document,
                    parse_status=ParseStatus.PENDING,
                    error_reason="",
                    error_message="",
                    updated_at=self._clock(),
                )
                await stored.documents.update(scope, document)
                await stored.work.add(self._queued(document, WorkKind.INGEST))
        self._jobs.wake()
        return document

    def _check_size(self, data: bytes) -> None:
        if len(data) > self._upload_limit:
            limit = self._upload_limit / (1024 * 1024)
            raise TooLarge(
                f"The file has {len(data) / (1024 * 1024):.1f} MB; at most {limit:g} MB are taken.",
                hint="Split the file, or raise the upload limit in the settings.",
                details={"limit": self._upload_limit, "size": len(data)},
            )

    def _queued(self, document: Document, kind: WorkKind) -> Work:
        return Work.new(kind, document.document_id, of=document, work_id=self._new_id(), now=self._clock())


async def hash_of(data: bytes) -> str:
    return await asyncio.to_thread(lambda: hashlib.sha256(data).hexdigest())


def checked_folder(folder: str) -> str:
    try:
        return clean_folder(folder)
    except ValueError as error:
        raise InvalidInput.of("folder", str(error)) from error


def check_text(content: str) -> None:
    if is_blank(content):
        raise InvalidInput.of("content", "There is no text to store.")


def check_has_file(document: Document) -> None:
    if document.file_type == FAQ_FILE_TYPE:
        raise InvalidInput.of("document_id", "The entries of a FAQ are kept one by one: there is no file to read.")


def visible(document: Document) -> Document:
    """Raises `NotFound` for what is being deleted: for everybody but the workers it is gone."""
    if document.parse_status is ParseStatus.DELETING:
        raise NotFound("There is no such document.", details={"document_id": document.document_id})
    return document


async def _of_source(stored: Repositories, scope: Scope, base_id: str, source: str) -> Document | None:
    found = [doc for doc in await stored.documents.by_source(scope, base_id, source) if doc.source == source]
    return found[0] if found else None


def _source(source: str) -> str:
    if len(source) > MAX_SOURCE_CHARS:
        raise InvalidInput.of("source", f"A source holds at most {MAX_SOURCE_CHARS} characters.")
    return clean(source)


def titled(document: Document, title: str) -> Document:
    return replace(document, title=clean_label(title) or document.title_from_name)


def _conflict(same: Document) -> Conflict:
    return Conflict(
        "The knowledge base holds these bytes already.",
        hint="The existing document is named in the details.",
        details={"document_id": same.document_id},
    )
