"""Lays the citations of an answer beside their passages, and says which statements stand there word for word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from opora.cite.quotes import Located, locate
from opora.cite.tags import Citation, parse_citations
from opora.domain.search import SearchResult

_LEAD = re.compile(r"^[\s>*+\-#]*(?:\d{1,3}[.)]\s+)?")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。!?])")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCitation:
    """A citation with the passage it names (None: not among the references) and the statement it stands behind.

    ``number`` counts sources from 1 in the order of their first citation. ``quote`` is where the statement stands in
    the passage; None when it is put in other words.
    """

    number: int
    citation: Citation
    passage: SearchResult | None
    statement: str
    quote: Located | None


def check_citations(answer: str, references: Sequence[SearchResult]) -> list[CheckedCitation]:
    """The citations of an answer in the order of the text."""
    by_chunk: dict[str, SearchResult] = {}
    for result in references:
        for chunk_id in (result.chunk_id, *result.sub_chunk_ids):
            by_chunk.setdefault(chunk_id, result)
    numbers: dict[tuple[str, str], int] = {}
    checked: list[CheckedCitation] = []
    segment, behind = "", 0
    for citation in parse_citations(answer):
        between = answer[behind : citation.start]
        if between.strip():
            segment = between
        behind = citation.end
        passage = by_chunk.get(citation.chunk_id) if citation.kind == "kb" else None
        statement, quote = _checked(segment, passage)
        checked.append(
            CheckedCitation(
                number=numbers.setdefault((citation.kind, citation.chunk_id or citation.url), len(numbers) + 1),
                citation=citation,
                passage=passage,
                statement=statement,
                quote=quote,
            )
        )
    return checked


def _checked(segment: str, passage: SearchResult | None) -> tuple[str, Located | None]:
    """The longest end of the text before a citation that is a quote, else its last sentence."""
    line = _LEAD.sub("", segment.strip().rsplit("\n\n", 1)[-1])
    sentence = ([part.strip() for part in _SENTENCE_END.split(line) if part.strip()] or [""])[-1]
    if passage is not None:
        for statement in (line, _LEAD.sub("", line.rsplit("\n", 1)[-1]), sentence):
            found = locate(statement, passage.content)
            if found is not None:
                return statement.strip(), found
    return sentence, None
