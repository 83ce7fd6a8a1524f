"""Shows citations as numbers with a list of sources behind the answer, for clients that know no citations."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from opora.cite.tags import Citation, parse_citations
from opora.domain.search import SearchResult
from opora.stream.results import place_json

_WORDS: Mapping[str, tuple[str, str]] = {
    "ru": ("Источники", "с. {}"),
    "en": ("Sources", "p. {}"),
    "zh": ("来源", "第 {} 页"),
}
_LIST = re.compile(rf"\n\n(?:{'|'.join(heading for heading, _ in _WORDS.values())}):\n((?:\[\d+\] [^\n]*(?:\n|\Z))+)\Z")
_MARKUP = re.compile(r"[\\\[\]<>`]")
_NUMBER = re.compile(r"^\[(\d+)\]", re.MULTILINE)


class Sources:
    """Numbers sources in the order in which the answer cites them."""

    def __init__(self, language: str) -> None:
        self._heading, self._page = _WORDS.get(language, _WORDS["en"])
        self._passages: dict[str, SearchResult] = {}
        self._cited: dict[str, Citation] = {}

    def know(self, references: Sequence[SearchResult]) -> None:
        """The passages that the answer may cite."""
        for result in references:
            for chunk_id in (result.chunk_id, *result.sub_chunk_ids):
                self._passages.setdefault(chunk_id, result)

    def numbered(self, piece: str) -> str:
        """A piece of an answer with numbers for tags. A tag is never cut: pieces are given out whole."""
        out, at = [], 0
        for citation in parse_citations(piece):
            key = citation.chunk_id or citation.url
            self._cited.setdefault(key, citation)
            out.append(f"{piece[at : citation.start]}[{list(self._cited).index(key) + 1}]")
            at = citation.end
        return "".join(out) + piece[at:]

    def text(self) -> str:
        """The list as the last piece of the answer; empty when nothing is cited."""
        if not self._cited:
            return ""
        lines = [f"[{number}] {self._line(citation)}" for number, citation in enumerate(self._cited.values(), 1)]
        return f"\n\n{self._heading}:\n" + "\n".join(lines)

    def citations(self) -> list[dict[str, Any]]:
        return [
            {
                "number": number,
                "kind": citation.kind,
                "title": citation.title,
                "url": citation.url,
                "chunk_id": citation.chunk_id,
                "knowledge_id": citation.document_id,
                "knowledge_base_id": citation.base_id,
                "content": passage.content if (passage := self._passages.get(citation.chunk_id)) else "",
                "place": place_json(passage.place) if passage else {},
            }
            for number, citation in enumerate(self._cited.values(), 1)
        ]

    def _line(self, citation: Citation) -> str:
        """A title is data: where answers are shown as Markdown it must become neither a link nor a picture."""
        title = _MARKUP.sub(r"\\\g<0>", citation.title)
        if citation.url:
            return f"{title} — {citation.url}" if title else citation.url
        passage = self._passages.get(citation.chunk_id)
        page = passage.place.page if passage else None
        return title if page is None else f"{title}, {self._page.format(page)}"


def without_sources(answer: str) -> str:
    """An answer that a client sends back, as it was written: without the list and the numbers that it explains."""
    found = _LIST.search(answer)
    if found is None:
        return answer
    numbers = "|".join(_NUMBER.findall(found[1]))
    return re.sub(rf" ?\[(?:{numbers})\]", "", answer[: found.start()])
