"""Tags become numbers wherever the stream was cut, and a quote of a table names its rows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opora.cli.citations import Numbers, numbered, rows_of_quote

A = '<kb doc="A &quot;B&quot; &amp; C" chunk_id="c1" kb_id="k" knowledge_id="d"/>'
B = '<web url="https://example.org/?a=1&amp;b=2" title="T"/>'
ANSWER = f"> One. {A}\n\n> Two, a < b.\n{B}{A} <b>bold</b> < kb"


def test_sources_are_numbered_in_the_order_of_their_first_citation() -> None:
    text, sources = numbered(ANSWER)
    assert text == "> One. [1]\n\n> Two, a < b. [2] [1] <b>bold</b> < kb"
    assert sources[0]["doc"] == 'A "B" & C'
    assert sources[1]["url"] == "https://example.org/?a=1&b=2"


@given(st.lists(st.integers(0, len(ANSWER)), max_size=12).map(sorted))
def test_the_text_is_the_same_wherever_it_was_cut(cuts: list[int]) -> None:
    numbers = Numbers()
    pieces = [ANSWER[a:b] for a, b in zip([0, *cuts], [*cuts, len(ANSWER)], strict=True)]
    text = "".join(numbers.feed(piece) for piece in pieces) + numbers.rest()
    assert (text, numbers.sources) == numbered(ANSWER)


@given(st.text(alphabet='<kbwe/>= \n"x', max_size=30))
def test_nothing_but_tags_is_changed(text: str) -> None:
    numbers = Numbers()
    shown = "".join(numbers.feed(char) for char in text) + numbers.rest()
    if not numbers.sources:
        assert shown == text


def test_what_only_looks_like_the_start_of_a_tag_is_shown_at_the_end() -> None:
    numbers = Numbers()
    assert numbers.feed("so far <kb doc=") == "so far"
    assert numbers.rest() == " <kb doc="


def citation(quote: tuple[int, int] | None, **place: Any) -> dict[str, Any]:
    content = "City: A | Rate: 1\nCity: B | Rate: 2\nCity: C | Rate: 3"
    return {
        "number": 1,
        "content": content,
        "place": place,
        "quote": None if quote is None else {"start": quote[0], "end": quote[1], "exact": True},
    }


@pytest.mark.parametrize(
    ("given_citation", "rows"),
    [
        (citation((0, 17), row=4, row_end=6), [4]),
        (citation((18, 35), row=4, row_end=6), [5]),
        (citation((18, 36), row=4, row_end=6), [5]),
        (citation((20, 40), row=4, row_end=6), [5, 6]),
        (citation((36, 53), row=4, row_end=6), [6]),
        (citation(None, row=4, row_end=6), []),
        (citation((18, 35)), []),
        (citation((18, 35), row=4, row_end=9), []),
        (citation((18, 35), row=4), []),
    ],
    ids=["first", "second", "with its line end", "two", "last", "no quote", "no table", "a row is missing", "one row"],
)
def test_rows_of_a_quote(given_citation: dict[str, Any], rows: list[int]) -> None:
    assert rows_of_quote(given_citation) == rows
