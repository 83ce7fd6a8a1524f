"""Simple tokens and how sets of them are compared."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.text.tokens import codes, jaccard, names, negations, overlap_coefficient, simple_tokens, token_set


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Проезд, ещё раз!", ["проезд", "еще", "раз"]),
        ("差旅费KB-1234报销", ["差", "旅", "费", "kb", "1234", "报", "销"]),
        ("Hello, World_2", ["hello", "world", "2"]),
        ("—…!", []),
        ("", []),
    ],
)
def test_words_whole_and_chinese_by_character(text: str, tokens: list[str]) -> None:
    assert simple_tokens(text) == tokens


def test_the_sets_are_compared_by_union_or_by_the_smaller() -> None:
    a, b = token_set("a b c d"), token_set("c d e f g h")
    assert jaccard(a, b) == 2 / 8
    assert overlap_coefficient(a, b) == 2 / 4
    assert jaccard(frozenset(), frozenset()) == overlap_coefficient(frozenset(), a) == 0.0


@settings(max_examples=50)
@given(st.sets(st.sampled_from("abcdef")), st.sets(st.sampled_from("abcdef")))
def test_both_measures_are_symmetric_and_bounded(a: set[str], b: set[str]) -> None:
    assert 0.0 <= jaccard(a, b) == jaccard(b, a) <= overlap_coefficient(a, b) == overlap_coefficient(b, a) <= 1.0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ставка 5,5% с 01.02.2026", {"5,5%", "01.02.2026"}),
        ("Код KB-1234 и а4", {"kb-1234", "а4"}),
        ("Ставка есть", set()),
    ],
)
def test_codes_are_what_alike_rows_differ_in(text: str, found: set[str]) -> None:
    assert codes(text) == found


def test_names_and_negations() -> None:
    assert names("Суточные в Казани ниже. Проезд отдельно") == {"казани"}
    assert negations(token_set("не возмещается без чека")) == {"не", "без"}
    assert negations(token_set("不报销")) == {"不"}
