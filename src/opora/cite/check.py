"""Lays the citations of an answer beside their passages, and says how far each statement is borne out there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opora.cite.statements import statements
from opora.cite.support import Evidence
from opora.domain.conversation import CitationCheck, Span, Support
from opora.domain.search import MatchType, SearchResult


def check_citations(answer: str, references: Sequence[SearchResult]) -> list[CitationCheck]:
    """The citations of an answer in the order of the text; places in documents are left to `opora.chat.citations`."""
    passages = passages_by_chunk(references)
    evidence = Evidence(references)
    numbers: dict[tuple[str, str], int] = {}
    checked: list[CitationCheck] = []
    for citation, readings in statements(answer):
        passage = passage_of(citation.chunk_id or citation.url, passages)
        statement, judged = evidence.judge(readings, passage.content if passage else "")
        is_found = judged.support is not Support.NOT_FOUND
        checked.append(
            CitationCheck(
                number=numbers.setdefault((citation.kind, citation.chunk_id or citation.url), len(numbers) + 1),
                kind=citation.kind,
                start=citation.start,
                end=citation.end,
                title=citation.title,
                chunk_id=citation.chunk_id,
                document_id=citation.document_id,
                base_id=citation.base_id,
                url=citation.url,
                statement=statement,
                support=judged.support,
                share=judged.share,
                quote=Span(start=judged.start, end=judged.end, exact=judged.exact) if judged.verbatim else None,
                best=Span(start=judged.start, end=judged.end, exact=judged.exact) if is_found else None,
            )
        )
    return checked


def passages_by_chunk(references: Sequence[SearchResult]) -> dict[str, SearchResult]:
    """References by the ids of all chunks in them, and pages of the web by their address."""
    found: dict[str, SearchResult] = {}
    for result in references:
        address = result.source if result.match_type is MatchType.WEB else ""
        for key in (result.chunk_id, *result.sub_chunk_ids, address):
            if key:
                found.setdefault(key, result)
    return found


def passage_of(key: str, passages: Mapping[str, SearchResult]) -> SearchResult | None:
    """The passage that a citation names by chunk id or address; None when it is not among the references."""
    return passages.get(key) if key else None
