"""Checks the citations of a finished answer: against their passages, and against the documents these come from."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

from opora.cite.check import check_citations, passage_of, passages_by_chunk
from opora.cite.spans import place_of, span_in
from opora.domain.conversation import CitationCheck
from opora.domain.errors import OporaError
from opora.domain.faq import FAQ_FILE_TYPE
from opora.domain.knowledge import Document
from opora.domain.scope import Scope
from opora.domain.search import SearchResult
from opora.ports import Blobs, Database

_log = logging.getLogger(__name__)


class CitationChecker:
    """Costs one reading transaction and one file a cited document; no model is asked."""

    def __init__(self, database: Database, blobs: Blobs) -> None:
        self._database = database
        self._blobs = blobs

    async def check(self, scope: Scope, answer: str, references: Sequence[SearchResult]) -> tuple[CitationCheck, ...]:
        """The citations in the order of the text. What can't be read of a document leaves only its place unknown."""
        checked = check_citations(answer, references)
        wanted = {one.document_id for one in checked if one.best and one.document_id}
        texts = await self._texts(scope, wanted)
        passages = passages_by_chunk(references)
        return tuple(_placed(one, passage_of(one.chunk_id, passages), texts) for one in checked)

    async def _texts(self, scope: Scope, document_ids: set[str]) -> dict[str, tuple[int, str]]:
        """Version and text of the documents that the scope holds, as they are searched now."""
        if not document_ids:
            return {}
        texts: dict[str, tuple[int, str]] = {}
        try:
            async with self._database.read() as repositories:
                documents: Mapping[str, Document] = await repositories.documents.get_many(scope, document_ids)
        except OporaError as error:
            _log.warning("The documents of an answer's citations could not be read: %s", error.message)
            return {}
        for document_id, document in sorted(documents.items()):
            if document.file_type == FAQ_FILE_TYPE:
                continue  # its entries stand for themselves, in no text
            version = document.indexed_version
            try:
                data = await self._blobs.get(document.tenant_id, document_id, version, part="text")
            except OporaError as error:
                _log.warning("The text of document %s could not be read: %s", document_id, error.message)
                continue
            texts[document_id] = (version, data.decode("utf-8", "replace"))
        return texts


def _placed(
    checked: CitationCheck, passage: SearchResult | None, texts: Mapping[str, tuple[int, str]]
) -> CitationCheck:
    best, known = checked.best, texts.get(checked.document_id)
    if best is None or passage is None or known is None:
        return checked
    version, text = known
    span = span_in(text, passage.content, passage.place, best.start, best.end)
    if span is None:
        return replace(checked, document_version=version)
    place = place_of(passage.place, passage.content, span, best.start, best.end)
    return replace(checked, document_version=version, place=place)
