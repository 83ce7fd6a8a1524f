"""Gives documents newer versions in place: another file, other words, what stands at an address now."""

from __future__ import annotations

from dataclasses import replace

from opora.domain.errors import Conflict, InvalidInput, NotFound
from opora.domain.knowledge import Document, Origin
from opora.domain.scope import Scope
from opora.knowledge.intake import Intake, check_has_file, check_text, hash_of, titled, visible
from opora.text.fold import clean
from opora.text.names import clean_file_name


class Versions(Intake):
    """An id, a base and what people said of a document stay; only chunks that changed are embedded anew."""

    async def replace_file(
        self, scope: Scope, document_id: str, *, file_name: str, data: bytes, version: int | None = None
    ) -> Document:
        """A newer version of its file, under the same id; only what changed is embedded anew.

        Raises `Conflict` when the base has these bytes elsewhere, or ``version`` is no longer the last one.
        """
        self._check_size(data)
        name = clean_file_name(file_name)
        async with self._replacing:
            earlier = await self._to_be_replaced(scope, document_id, version)
            new = replace(earlier, file_name=name, origin=Origin.FILE)
            if earlier.title == earlier.title_from_name:
                new = titled(new, "")
            return await self._newer(scope, earlier, new, data)

    async def rewrite(self, scope: Scope, document_id: str, content: str, *, version: int | None = None) -> Document:
        """New words of a text that somebody wrote here; only chunks that changed are embedded anew.

        Raises `Conflict` when somebody else changed it after ``version``.
        """
        check_text(content)
        data = clean(content).encode()
        self._check_size(data)
        async with self._replacing:
            earlier = await self._to_be_replaced(scope, document_id, version)
            if not _is_written_here(earlier):
                message = "Only texts that were written here are edited."
                raise InvalidInput.of("content", message, hint="Replace the file by a newer one, or correct a chunk.")
            return await self._newer(scope, earlier, earlier, data)

    async def refreshed(self, scope: Scope, document_id: str, data: bytes) -> Document:
        """What stands at a document's address now; read anew also where nothing changed."""
        self._check_size(data)
        async with self._replacing:
            earlier = await self._to_be_replaced(scope, document_id, None)
            if earlier.file_hash != await hash_of(data):
                return await self._newer(scope, earlier, earlier, data)
        return await self.retry(scope, document_id)

    async def _to_be_replaced(self, scope: Scope, document_id: str, version: int | None) -> Document:
        async with self._database.read() as stored:
            earlier = visible(await stored.documents.get(scope, document_id))
        check_has_file(earlier)
        if version is not None and version != earlier.version:
            raise Conflict(
                f"Somebody changed the document meanwhile: it stands at version {earlier.version}.",
                hint="Read it again, and make the change to that.",
                details={"document_id": document_id, "version": earlier.version},
            )
        return earlier

    async def _newer(self, scope: Scope, earlier: Document, new: Document, data: bytes) -> Document:
        new = replace(new, file_size=len(data), file_hash=await hash_of(data), updated_at=self._clock())
        document = await self._replace(scope, earlier, new, data)
        if document is None:
            raise NotFound("There is no such document.", details={"document_id": earlier.document_id})
        return document


def _is_written_here(document: Document) -> bool:
    """Also Markdown that was brought in from nowhere in particular: no folder on a disk will bring it in again."""
    if document.origin is Origin.FILE:
        return document.file_type == "md" and not document.source
    return document.origin is Origin.MANUAL
