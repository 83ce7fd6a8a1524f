"""The parts of the presentation that show lists: by meaning, by words, and the one that comes of both."""

from __future__ import annotations

from collections.abc import Sequence

from opora.api.pages.example import Example
from opora.api.pages.html import Html, el, joined
from opora.api.pages.pieces import near
from opora.api.pages.words import Words
from opora.domain.context import FULLTEXT, FUSED, SEMANTIC, ContextResult
from opora.retriever.fusion import RRF_K

SHOWN = 5
_EXCERPT = 90
_NUMBERS = 4


def two(example: Example, words: Words) -> Html:
    question = el("p", joined(f"{words('yourQuestion')}: ", el("strong", example.question)))
    if example.vector is None:
        vector = el("p", words("wordsOnly"), class_="notice", role="status")
    else:
        numbers = ", ".join(f"{number:.3f}" for number in example.vector.vector[:_NUMBERS])
        told = words("vectorOf", n=example.vector.vector.size)
        vector = el(
            "p",
            joined(f"{told} ", el("code", f"[{numbers}, …]"), f" · {words('model')} "),
            el("code", example.vector.identity),
        )
    ways = (
        [(FULLTEXT, "listFulltext")]
        if example.vector is None
        else [(SEMANTIC, "listSemantic"), (FULLTEXT, "listFulltext")]
    )
    tables = [_list(example, name, words(caption), words) for name, caption in ways]
    return joined(
        el("h2", words("askTitle")),
        el("p", words("askText")),
        question,
        vector,
        el("div", joined(*tables), class_="lists"),
    )


def fused(example: Example, words: Words) -> Html:
    best = sorted(
        (one for one in example.whole.results if FUSED in one.scores), key=lambda one: (-one.score, one.chunk_id)
    )
    rows = [
        el(
            "tr",
            el("td", str(at), class_="number"),
            el("td", _named(one, example.question, words)),
            el("td", _share(one.ranks.get(SEMANTIC, 0)), class_="number"),
            el("td", _share(one.ranks.get(FULLTEXT, 0)), class_="number"),
            el("td", f"{one.score:.4f}", class_="number"),
        )
        for at, one in enumerate(best[:SHOWN], start=1)
    ]
    heads = ("place", "pieceHead", "byMeaning", "byWordsHead", "sum")
    return joined(el("h2", words("fuseTitle")), el("p", words("fuseText")), _table(heads, rows, None, words))


def _list(example: Example, name: str, caption: str, words: Words) -> Html:
    ranked = sorted((one for one in example.whole.results if name in one.ranks), key=lambda one: one.ranks[name])
    rows = [
        el(
            "tr",
            el("td", str(one.ranks[name]), class_="number"),
            el("td", _named(one, example.question, words)),
            el("td", f"{one.scores[name]:.3f}" if name in one.scores else "–", class_="number"),
        )
        for one in ranked[:SHOWN]
    ]
    return _table(("place", "pieceHead", "scoreHead"), rows, caption, words)


def _table(heads: Sequence[str], rows: Sequence[Html], caption: str | None, words: Words) -> Html:
    head = el("tr", joined(*(el("th", words(name), scope="col") for name in heads)))
    empty = el("tr", el("td", words("emptyList"), colspan=str(len(heads))))
    table = el(
        "table",
        el("caption", caption) if caption else None,
        el("thead", head),
        el("tbody", joined(*(rows or [empty]))),
    )
    return el("div", table, class_="scroll")


def _named(one: ContextResult, question: str, words: Words) -> Html:
    about = f"{one.title or one.file_name} · {words('piece', n=one.chunk_index + 1)}"
    return joined(near(one.content, question, _EXCERPT), el("br"), el("span", about, class_="where"))


def _share(rank: int) -> str:
    return f"1/({RRF_K}+{rank})" if rank else "0"
