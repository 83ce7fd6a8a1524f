"""Use cases on documents and bases: move documents to another base, or copy them there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opora.domain.errors import Conflict, InvalidInput, NotFound
from opora.domain.faq import FAQ_FILE_TYPE
from opora.domain.knowledge import BaseType, Document, ParseStatus
from opora.domain.scope import Scope
from opora.domain.work import Work, WorkKind
from opora.knowledge.intake import SETTLED, visible
from opora.ports import Blobs, Clock, Database, Jobs, NewId, Repositories

UNDER_WAY = frozenset({WorkKind.MOVE_DOCUMENT, WorkKind.LEAVE_BASE})


class Transfers:
    """Checked at once and carried out by a worker; a document is found where it was until it is found where it goes."""

    def __init__(self, database: Database, blobs: Blobs, jobs: Jobs, *, clock: Clock, new_id: NewId) -> None:
        self._database = database
        self._blobs = blobs
        self._jobs = jobs
        self._clock = clock
        self._new_id = new_id

    async def move(self, scope: Scope, target: Scope, base_id: str, document_ids: Sequence[str]) -> list[Document]:
        """All of them, or none where one can't go: it is being read or moved, or the base has its bytes."""
        documents: list[Document] = []
        async with self._database.begin() as stored:
            await _check_target(stored, target, base_id)
            hashes: set[str] = set()
            for document_id in dict.fromkeys(document_ids):
                document = visible(await stored.documents.get(scope, document_id))
                documents.append(document)
                if document.base_id == base_id:
                    continue
                await _check_may_go(stored, target, base_id, document, hashes)
                await _check_stands_still(stored, document)
                await stored.work.add(self._work(WorkKind.MOVE_DOCUMENT, document, aim=base_id))
        self._jobs.wake()
        return documents

    async def copy(self, scope: Scope, target: Scope, base_id: str, document_ids: Sequence[str]) -> list[Document]:
        """New documents of the same content, edits and tags; none where one can't be copied."""
        async with self._database.read() as stored:
            await _check_target(stored, target, base_id)
            found = [visible(await stored.documents.get(scope, key)) for key in dict.fromkeys(document_ids)]
            hashes: set[str] = set()
            for document in found:
                await _check_may_go(stored, target, base_id, document, hashes)
        copies = [self._copy_of(document, target, base_id) for document in found]
        for document, new in zip(found, copies, strict=True):
            data = await self._blobs.get(document.tenant_id, document.document_id, document.version)
            await self._blobs.put(new.tenant_id, new.document_id, new.version, data)
        try:
            async with self._database.begin() as stored:
                for document, new in zip(found, copies, strict=True):
                    await stored.documents.add(target, new)
                    await stored.work.add(self._work(WorkKind.COPY_DOCUMENT, new, aim=document.document_id))
        except (Conflict, NotFound):
            for new in copies:
                await self._blobs.delete(new.tenant_id, new.document_id)
            raise
        self._jobs.wake()
        return copies

    def _copy_of(self, document: Document, target: Scope, base_id: str) -> Document:
        """Without tags, which belong to a base: the worker finds those of the same names."""
        now = self._clock()
        return replace(
            document,
            document_id=self._new_id(),
            base_id=base_id,
            tenant_id=target.owner_of(base_id),
            tag_ids=(),
            version=1,
            indexed_version=0,
            chunk_count=0,
            embedded_count=0,
            parse_status=ParseStatus.PENDING,
            error_reason="",
            error_message="",
            created_at=now,
            updated_at=now,
        )

    def _work(self, kind: WorkKind, document: Document, *, aim: str) -> Work:
        work = Work.new(kind, document.document_id, of=document, work_id=self._new_id(), now=self._clock())
        return replace(work, aim=aim)


async def _check_target(stored: Repositories, target: Scope, base_id: str) -> None:
    found = await stored.bases.find(target.owner_of(base_id), [base_id])
    if not found:
        raise NotFound("There is no such knowledge base.", details={"base_id": base_id})
    if found[0].base_type is not BaseType.DOCUMENT:
        raise InvalidInput.of("knowledge_base_id", "Documents go to a base of documents only.")


async def _check_may_go(
    stored: Repositories, target: Scope, base_id: str, document: Document, hashes: set[str]
) -> None:
    if document.file_type == FAQ_FILE_TYPE:
        raise InvalidInput.of("knowledge_ids", "The entries of a FAQ stay in their base.")
    same = await stored.documents.by_hash(target, base_id, document.file_hash)
    if same is not None or document.file_hash in hashes:
        raise Conflict(
            f"The knowledge base would hold the bytes of '{document.title}' twice.",
            hint="The document that it has is named in the details.",
            details={"document_id": same.document_id if same else document.document_id},
        )
    hashes.add(document.file_hash)


async def _check_stands_still(stored: Repositories, document: Document) -> None:
    details = {"document_id": document.document_id}
    if document.parse_status not in SETTLED:
        raise Conflict(f"'{document.title}' is being read.", hint="Wait until it is completed.", details=details)
    if document.indexed_version != document.version:
        hint = "Read it again, or bring its file into the other base."
        raise Conflict(f"The last version of '{document.title}' was not read.", hint=hint, details=details)
    if not UNDER_WAY.isdisjoint(await stored.work.waiting(document.document_id)):
        raise Conflict(f"'{document.title}' is being moved.", hint="Wait a moment.", details=details)
