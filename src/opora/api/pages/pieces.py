"""A piece of a document as a page shows it: where it stands, its words marked, its scores, its neighbours."""

from __future__ import annotations

from collections.abc import Sequence

from opora.api.pages.html import Html, el, joined
from opora.api.pages.words import Words
from opora.domain.context import FULLTEXT, FUSED, SEMANTIC, ContextResult
from opora.domain.knowledge import ChunkType, Place
from opora.text.marking import marks


def grouped(results: Sequence[ContextResult]) -> list[tuple[ContextResult, list[ContextResult]]]:
    """Each found piece with its neighbours."""
    groups: list[tuple[ContextResult, list[ContextResult]]] = []
    for result in results:
        if result.neighbour_of and groups:
            groups[-1][1].append(result)
        else:
            groups.append((result, []))
    return groups


def marked(text: str, question: str) -> Html:
    parts: list[str] = []
    at = 0
    for start, end in marks(text, question):
        parts += [text[at:start], el("mark", text[start:end])]
        at = end
    return joined(*parts, text[at:])


def near(text: str, question: str, length: int) -> Html:
    """About so many characters of a text, from its start or from a little before the first word of the question."""
    first = next((start for start, _ in marks(text, question)), 0)
    start = max(0, first - length // 3) if first > length * 2 // 3 else 0
    if start:
        start = text.find(" ", start, first) + 1 or start
    cut = text[start : start + length].rstrip()
    return joined("…" if start else None, marked(cut, question), "…" if start + length < len(text) else None)


def hit(
    found: ContextResult, beside: Sequence[ContextResult], *, number: int, question: str, words: Words, links: bool
) -> Html:
    numbers = {one.chunk_id: one.chunk_index + 1 for one in (found, *beside)}
    neighbours = [
        el(
            "li",
            el(
                "p",
                words("neighbour", n=one.chunk_index + 1, m=numbers.get(one.linked_to, "?"), score=f"{one.score:.2f}"),
                class_="why",
            ),
            el("p", marked(one.content, question), class_="content"),
        )
        for one in beside
    ]
    article = el(
        "article",
        el("h2", found.title or found.file_name, id=f"hit-{number}"),
        where(found, words, links=links),
        el("p", marked(found.content, question), class_="content"),
        el("p", scores(found, words), class_="scores"),
        el("ul", joined(*neighbours), class_="neighbours", aria_label=words("neighbours")) if neighbours else None,
        aria_labelledby=f"hit-{number}",
    )
    return el("li", article)


def where(found: ContextResult, words: Words, *, links: bool) -> Html:
    """File, headings, page, number; the page and the file can be opened where no key is asked for."""
    document = f"/api/v1/knowledge/{found.document_id}"
    place: str = standing(found.place, words)
    if place and links and found.place.page and found.file_name.lower().endswith(".pdf"):
        place = el("a", place, href=f"{document}/pages/{found.place.page}")
    is_file = found.chunk_type is not ChunkType.FAQ
    name: str = found.file_name if found.file_name != found.title else ""
    if links and is_file:
        name = el("a", name or words("openFile"), href=f"{document}/download")
    headings = found.context if found.context != found.title else ""
    parts = [name, headings, place, words("piece", n=found.chunk_index + 1)]
    return el("p", joined(*(part for part in parts if part), by=" · "), class_="where")


def standing(place: Place, words: Words) -> str:
    parts = []
    if place.page is not None:
        is_one = place.page_end in (None, place.page)
        parts.append(words("page", n=place.page) if is_one else words("pagesFromTo", n=place.page, m=place.page_end))
    if place.sheet:
        parts.append(words("sheet", name=place.sheet))
    if place.row is not None:
        parts.append(words("rows", n=place.row, m=place.row_end or place.row))
    return ", ".join(parts)


def scores(found: ContextResult, words: Words) -> str:
    parts = []
    if FUSED in found.scores:
        parts.append(words("scoreRrf", score=f"{found.scores[FUSED]:.4f}"))
    for name, key in ((SEMANTIC, "scoreSemantic"), (FULLTEXT, "scoreFulltext")):
        if name in found.ranks:
            score = f"{found.scores[name]:.3f}" if name in found.scores else "–"
            parts.append(words(key, rank=found.ranks[name], score=score))
    return " · ".join(parts)
