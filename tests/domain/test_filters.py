"""Filters over metadata: what each condition lets through, and the laws of joining them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opora.domain.errors import InvalidInput
from opora.domain.filters import MAX_CONDITIONS, MAX_DEPTH, MAX_VALUES, read_filter

FACTS = {"n": 5, "f": 5.0, "t": "5", "yes": True, "day": "2026-01-31", "time": "2026-01-31T23:59:59Z", "list": [1, "a"]}


def fits(wanted: dict[str, Any], facts: dict[str, Any] = FACTS) -> bool:
    return read_filter(wanted)(facts)


@pytest.mark.parametrize(
    ("field", "test", "expected"),
    [
        ("n", {"equals": 5.0}, True),
        ("n", {"equals": "5"}, False),
        ("t", {"equals": 5}, False),
        ("yes", {"equals": 1}, False),
        ("yes", {"equals": True}, True),
        ("none", {"equals": None}, False),
        ("list", {"equals": "a"}, True),
        ("list", {"in": [2, 1]}, True),
        ("list", {"in": [True]}, False),
        ("n", {"range": {"gt": 4, "lt": 5}}, False),
        ("n", {"range": {"gte": 5, "lte": 5}}, True),
        ("t", {"range": {"gte": 0}}, False),
        ("yes", {"range": {"gte": 0}}, False),
        ("list", {"range": {"lte": 1}}, True),
        ("day", {"range": {"gte": "2026-01-31", "lte": "2026-01-31"}}, True),
        ("time", {"range": {"lte": "2026-01-31"}}, True),
        ("time", {"range": {"gt": "2026-01-31"}}, False),
        ("time", {"range": {"lt": "2026-01-31T23:59:59+00:00"}}, False),
        ("time", {"range": {"gte": "2026-02-01T02:59:59+03:00"}}, True),
        ("n", {"range": {"gte": "2026-01-31"}}, False),
        ("none", {"exists": False}, True),
        ("n", {"exists": True}, True),
    ],
)
def test_what_a_condition_lets_through(field: str, test: dict[str, Any], expected: bool) -> None:
    assert fits({"field": field, **test}) is expected


def test_a_name_with_dots_is_a_name_first_and_a_path_then() -> None:
    facts = {"a.b": 1, "a": {"b": 2, "c": {"d": 3}}}
    assert fits({"field": "a.b", "equals": 1}, facts)
    assert fits({"field": "a.c.d", "equals": 3}, facts)
    assert not fits({"field": "a.c.d.e", "exists": True}, facts)


def test_null_is_not_there() -> None:
    assert fits({"field": "a", "exists": False}, {"a": None})
    assert fits({"field": "a", "equals": None}, {"a": None})


def nested(levels: int) -> dict[str, Any]:
    inner: dict[str, Any] = {"field": "n", "exists": True}
    for _ in range(levels - 1):
        inner = {"not": inner}
    return inner


def test_the_limits() -> None:
    read_filter(nested(MAX_DEPTH))
    some = {"field": "n", "exists": True}
    read_filter({"or": [some] * (MAX_CONDITIONS - 1)})
    read_filter({"field": "n", "in": list(range(MAX_VALUES))})
    for wrong in (
        nested(MAX_DEPTH + 1),
        {"or": [some] * MAX_CONDITIONS},
        {"field": "n", "in": list(range(MAX_VALUES + 1))},
    ):
        with pytest.raises(InvalidInput):
            read_filter(wrong)


VALUES = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-3, 3) | st.sampled_from(["a", "5", "2026-01-31"])
CONDITIONS = st.one_of(
    st.builds(lambda value: {"field": "x", "equals": value}, VALUES),
    st.builds(lambda values: {"field": "x", "in": values}, st.lists(VALUES, min_size=1, max_size=3)),
    st.builds(lambda low, high: {"field": "x", "range": {"gte": low, "lt": high}}, *[st.integers(-3, 3)] * 2),
    st.builds(lambda wanted: {"field": "x", "exists": wanted}, st.booleans()),
)
DOCUMENTS = st.one_of(st.just({}), st.builds(lambda value: {"x": value}, VALUES | st.lists(VALUES, max_size=3)))


@given(CONDITIONS, CONDITIONS, DOCUMENTS)
def test_joining_keeps_the_laws_of_logic(one: dict[str, Any], other: dict[str, Any], facts: dict[str, Any]) -> None:
    first, second = fits(one, facts), fits(other, facts)
    assert fits({"not": one}, facts) is not first
    assert fits({"and": [one, other]}, facts) is (first and second)
    assert fits({"or": [one, other]}, facts) is (first or second)
    assert fits({"not": {"or": [{"not": one}, {"not": other}]}}, facts) is (first and second)


WORDS = st.sampled_from(["and", "or", "not", "field", "equals", "in", "range", "exists", "gte"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


@given(ANYTHING)
def test_whatever_comes_in_is_a_filter_or_refused(given_: Any) -> None:
    try:
        wanted = read_filter(given_)
    except InvalidInput:
        return
    assert wanted(FACTS) in (True, False)
