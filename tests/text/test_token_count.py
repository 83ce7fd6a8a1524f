"""Token estimates by script."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.text.token_count import estimate_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("abcd" * 10, 10), ("абвгд" * 10, 20), ("报销" * 10, 20), ("a", 1), ("ж", 1), ("🍸🍸", 2)],
)
def test_each_script_has_its_own_rate(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@settings(max_examples=60)
@given(st.text(max_size=50), st.text(max_size=50))
def test_more_text_never_takes_fewer_tokens(first: str, second: str) -> None:
    assert max(estimate_tokens(first), estimate_tokens(second)) <= estimate_tokens(first + second)
