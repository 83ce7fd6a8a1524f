"""The one check of a question."""

from __future__ import annotations

import pytest

from opora.domain.errors import InvalidInput
from opora.text.query import clean_query


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("  проезд\n", "проезд"),
        ("про\0езд", "проезд"),
        ("a\ud800b", "ab"),
        ("a\tb\nc", "a\tb\nc"),
        ("🍸" * 10_000, "🍸" * 10_000),
    ],
)
def test_a_question_is_cleaned(text: str, cleaned: str) -> None:
    assert clean_query(text) == cleaned


@pytest.mark.parametrize("text", ["", " \n\t", "\0", "\u200b\ufeff \u2060", "ж" * 10_001, "🍸" * 10_001])
def test_a_blank_or_overlong_one_is_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        clean_query(text)
    assert caught.value.details == {"field": "query"}
