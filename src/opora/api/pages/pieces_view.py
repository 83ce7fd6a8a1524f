"""The parts of the presentation that show pieces: cut, marked, with their neighbours, and as a program gets them."""

from __future__ import annotations

import json
from collections.abc import Sequence

from opora.api.pages.example import Example
from opora.api.pages.html import Html, el, joined
from opora.api.pages.pieces import grouped, marked, standing
from opora.api.pages.words import Words
from opora.domain.context import ContextResult
from opora.domain.knowledge import Chunk
from opora.domain.steps import StepName
from opora.retriever.results import answer_json
from opora.text.terms import index_terms

EXCERPT = 260
_TERMS = 14
_STEPS = {
    StepName.READ: "stepRead",
    StepName.SPLIT: "stepSplit",
    StepName.KEYWORDS: "stepKeywords",
    StepName.EMBED: "stepEmbed",
}


def cut(example: Example, words: Words) -> Html:
    document = example.document
    facts = [
        (words("file"), document.file_name),
        (words("size"), words("bytes", n=f"{document.file_size / 1024:.1f}")),
        (words("pieces"), words("piecesOf", n=document.chunk_count, m=document.embedded_count)),
        (words("took"), _took(example, words)),
    ]
    shown = joined(*(joined(el("dt", name), el("dd", value)) for name, value in facts if value))
    items = [
        el(
            "li",
            el("p", _about(chunk, before, words), class_="where"),
            el("p", excerpt(chunk.content), class_="content"),
        )
        for chunk, before in zip(example.chunks, (None, *example.chunks), strict=False)
    ]
    return joined(
        el("h2", words("cutTitle")),
        el("p", words("cutText")),
        el("dl", shown, class_="facts"),
        el("h3", words("firstPieces")),
        el("ol", joined(*items), class_="pieces"),
    )


def marked_by(example: Example, words: Words) -> Html:
    terms = dict.fromkeys(index_terms(example.chunks[0].search_text) if example.chunks else ())
    chips = joined(*(el("li", term) for term in list(terms)[:_TERMS]))
    return joined(
        el("h2", words("markTitle")),
        el("p", words("markText")),
        el("h3", words("stems")),
        el("ul", chips, class_="chips"),
    )


def chain(example: Example, words: Words) -> Html:
    """The found piece that has most neighbours, in the order of the document."""
    groups = grouped(example.short.results)
    found, beside = max(groups, key=lambda group: len(group[1]), default=(None, []))
    told: Html = el("p", words("noNeighbours"), class_="notice")
    if found is not None and beside:
        ordered = sorted([found, *beside], key=lambda one: one.chunk_index)
        numbers = {one.chunk_id: one.chunk_index + 1 for one in ordered}
        items = [_link(one, numbers, example.question, words) for one in ordered]
        told = joined(el("h3", found.title or found.file_name), el("ol", joined(*items), class_="pieces"))
    return joined(el("h2", words("beforeTitle")), el("p", words("beforeText")), told)


def given(example: Example, words: Words) -> Html:
    """The answer as a program gets it, cut to one result and what a reader can take in."""
    body = answer_json(example.short)
    for result in body["results"]:
        result["content"] = excerpt(result["content"], 90)
        result["scores"] = {name: round(score, 4) for name, score in result["scores"].items()}
        result["score"] = round(result["score"], 4)
        for name in ("metadata", "place", "context"):
            result.pop(name)
    body["results"] = body["results"][:1]
    return joined(
        el("h2", words("giveTitle")),
        el("p", words("giveText")),
        el("pre", json.dumps(body, ensure_ascii=False, indent=2), tabindex="0"),
    )


def excerpt(text: str, length: int = EXCERPT) -> str:
    return text if len(text) <= length else f"{text[:length].rstrip()}…"


def _link(one: ContextResult, numbers: dict[str, int], question: str, words: Words) -> Html:
    if one.neighbour_of:
        why = words("chainAdded", m=numbers.get(one.linked_to, "?"), score=f"{one.score:.3f}")
    else:
        why = words("chainFound")
    about = f"{words('piece', n=one.chunk_index + 1)} · {why}"
    return el(
        "li",
        el("p", about, class_="where"),
        el("p", marked(excerpt(one.content), question), class_="content"),
        class_="added" if one.neighbour_of else "found",
    )


def _about(chunk: Chunk, before: Chunk | None, words: Words) -> str:
    parts = [words("piece", n=chunk.chunk_index + 1), chunk.context, standing(chunk.place, words)]
    parts.append(words("letters", n=len(chunk.content)))
    shared = 0 if before is None else before.place.end - chunk.place.start
    if shared > 0:
        parts.append(words("overlap", n=shared))
    return " · ".join(part for part in parts if part)


def _took(example: Example, words: Words) -> str:
    spent: dict[StepName, int] = {}
    for step in example.steps:
        spent[step.name] = spent.get(step.name, 0) + step.microseconds
    parts: Sequence[str] = [
        words("stepTook", name=words(key), n=max(1, round(spent[name] / 1000)))
        for name, key in _STEPS.items()
        if name in spent
    ]
    return ", ".join(parts)
