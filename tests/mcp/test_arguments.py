"""Arguments as assistants give them: as the schema says, or as strings that say the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opora.mcp.arguments import Argument, Kind, Misread, input_schema, read_arguments
from opora.mcp.tools import BY_NAME, TOOLS

LIMIT = Argument(name="limit", kind=Kind.COUNT, about="How many.", default=10, least=1, most=50)
RATIO = Argument(name="ratio", kind=Kind.NUMBER, about="A share.", least=-1, most=1)
NAMES = Argument(name="names", kind=Kind.TEXTS, about="Names.")
TEXT = Argument(name="text", kind=Kind.TEXT, about="Words.", is_required=True, most=10)
MODE = Argument(name="mode", kind=Kind.TEXT, about="Which.", is_required=True, default="a", choices=("a", "b"))


@pytest.mark.parametrize(
    ("argument", "given_value", "read"),
    [
        (LIMIT, 5, 5),
        (LIMIT, "5", 5),
        (LIMIT, " 5 ", 5),
        (LIMIT, 5.0, 5),
        (LIMIT, None, 10),
        (LIMIT, "", 10),
        (RATIO, "0.5", 0.5),
        (RATIO, "0,5", 0.5),
        (RATIO, None, None),
        (NAMES, ["а", " b "], ["а", "b"]),
        (NAMES, '["а", "b"]', ["а", "b"]),
        (NAMES, "Правила, общие", ["Правила, общие"]),
        (NAMES, "[черновик", ["[черновик"]),
        (NAMES, "", None),
        (TEXT, " проезд ", "проезд"),
        (MODE, "B", "b"),
        (MODE, None, "a"),
    ],
)
def test_values_and_strings_that_say_the_same(argument: Argument, given_value: Any, read: Any) -> None:
    assert read_arguments([argument], {argument.name: given_value}) == {argument.name: read}


@pytest.mark.parametrize(
    ("argument", "given_value", "word"),
    [
        (LIMIT, 0, "from 1 to 50"),
        (LIMIT, "51", "from 1 to 50"),
        (LIMIT, 2.5, "whole"),
        (LIMIT, "many", "number"),
        (LIMIT, True, "number"),
        (LIMIT, [1], "number"),
        (RATIO, "nan", "number"),
        (RATIO, 2, "from -1 to 1"),
        (NAMES, [1], "list of texts"),
        (NAMES, {"a": 1}, "list of texts"),
        (TEXT, None, "missing"),
        (TEXT, "  ", "empty"),
        (TEXT, "x" * 11, "10 characters"),
        (TEXT, 5, "text"),
        (MODE, "c", "a, b"),
    ],
)
def test_what_does_not_fit_is_named_with_the_way_out(argument: Argument, given_value: Any, word: str) -> None:
    with pytest.raises(Misread) as told:
        read_arguments([argument], {argument.name: given_value})
    assert argument.name in str(told.value)
    assert word in str(told.value)


def test_an_unknown_argument_is_told_with_those_there_are() -> None:
    with pytest.raises(Misread, match="names"):
        read_arguments([NAMES], {"name": "x"})


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.lists(st.text(max_size=5), max_size=3),
)


@given(st.dictionaries(st.sampled_from(["limit", "ratio", "names", "text", "mode"]), VALUES))
def test_whatever_is_given_it_is_read_within_its_limits_or_misread(values: dict[str, Any]) -> None:
    try:
        read = read_arguments([LIMIT, RATIO, NAMES, TEXT, MODE], values)
    except Misread:
        return
    assert 1 <= read["limit"] <= 50
    assert read["ratio"] is None or -1 <= read["ratio"] <= 1
    assert read["names"] is None or all(read["names"])
    assert 0 < len(read["text"]) <= 10
    assert read["mode"] in ("a", "b")


def test_the_search_asks_for_its_kind_and_has_hybrid_in_reserve() -> None:
    search = BY_NAME["context_search"]
    schema = input_schema(search.arguments)
    assert schema["required"] == ["query", "search_type"]
    assert schema["properties"]["search_type"]["enum"] == ["semantic", "fulltext", "hybrid"]
    assert (schema["properties"]["limit"]["default"], schema["properties"]["limit"]["maximum"]) == (10, 50)
    assert schema["properties"]["query"]["maxLength"] == 10_000
    assert read_arguments(search.arguments, {"query": "q"})["search_type"] == "hybrid"


def test_every_tool_says_what_it_takes_and_gives() -> None:
    for tool in TOOLS:
        assert tool.about.endswith(".")
        assert tool.output["type"] == "object"
        assert all(argument.about for argument in tool.arguments)
