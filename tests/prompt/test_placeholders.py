"""Placeholders in both forms, filled once."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.prompt.placeholders import render


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{query}", "что?"),
        ("{{query}}", "что?"),
        ("{{ query }}", "что?"),
        ("{unknown} {{unknown}}", "{unknown} {{unknown}}"),
        ('{"rewrite_query": "..."}', '{"rewrite_query": "..."}'),
        ("{}", "{}"),
        ("{query", "{query"),
    ],
)
def test_both_forms_are_read(template: str, text: str) -> None:
    assert render(template, {"query": "что?"}) == text


def test_values_are_data() -> None:
    assert render("{query} {contexts}", {"query": "{contexts} {{query}}", "contexts": "X"}) == "{contexts} {{query}} X"


@settings(max_examples=60)
@given(st.text(max_size=40))
def test_any_value_comes_through_as_it_is(value: str) -> None:
    assert render("<{query}|{{query}}>", {"query": value}) == f"<{value}|{value}>"
