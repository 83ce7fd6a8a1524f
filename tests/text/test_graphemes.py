from __future__ import annotations

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.text.graphemes import next_cut, safe_cut

FAMILY = "👩‍👩‍👧‍👦"
FLAG = "🇰🇿"
ACCENT = "e\u0301"


@pytest.mark.parametrize("cluster", [FAMILY, FLAG, ACCENT, "\r\n", "각", "नि"])
def test_no_cut_inside_a_cluster(cluster: str) -> None:
    text = f"ab{cluster}cd"
    for index in range(3, 2 + len(cluster)):
        assert safe_cut(text, index) == 2
        assert next_cut(text, index) == 2 + len(cluster)
    assert safe_cut(text, 2) == next_cut(text, 2) == 2


def test_flags_are_paired_from_the_start_of_a_long_run() -> None:
    text = FLAG * 300
    assert [safe_cut(text, index) for index in (201, 400, 401)] == [200, 400, 400]


def test_ends_are_kept() -> None:
    assert safe_cut("abc", 0) == 0
    assert safe_cut("abc", 99) == 3
    assert safe_cut("abc", 1, anchor=2) == 2


joining = st.lists(
    st.sampled_from(["a", "я", "中", " ", "\n", FAMILY, FLAG, ACCENT, "\u0301", "\u200d", "🇷"]), max_size=40
)


@settings(max_examples=150, deadline=None)
@given(joining, st.integers(0, 120))
def test_cuts_are_boundaries(parts: list[str], index: int) -> None:
    text = "".join(parts)
    boundaries = {0, len(text), *(match.end() for match in regex.finditer(r"\X", text))}
    index = min(index, len(text))
    before, after = safe_cut(text, index), next_cut(text, index)
    assert before == max(place for place in boundaries if place <= index)
    assert after == min(place for place in boundaries if place >= index)
