"""What is written is read back the same."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.domain.codec import build, plain
from opora.domain.knowledge import Box, ChunkingConfig, ChunkType, Place
from opora.domain.search import MatchType, ScoreKind, SearchResult
from opora.store.codec import (
    Unread,
    dump,
    dump_place,
    dump_results,
    dump_tags,
    load_place,
    load_results,
    load_tags,
)

numbers = st.integers(0, 10**6)
boxes = st.builds(Box, page=numbers, x0=st.floats(0, 1e4), y0=st.just(0.0), x1=st.floats(0, 1e4), y1=st.just(1.5))
places = st.builds(
    Place,
    start=numbers,
    end=numbers,
    page=st.none() | numbers,
    page_end=st.none() | numbers,
    boxes=st.lists(boxes, max_size=3).map(tuple),
    heading_path=st.lists(st.text(max_size=9), max_size=3).map(tuple),
    sheet=st.text(max_size=9),
    row=st.none() | numbers,
    row_end=st.none() | numbers,
)
results = st.builds(
    SearchResult,
    chunk_id=st.text(min_size=1, max_size=5),
    base_id=st.just("kb"),
    tenant_id=st.just("t"),
    document_id=st.just("d"),
    content=st.text(max_size=20),
    chunk_type=st.sampled_from(ChunkType),
    kind=st.sampled_from(ScoreKind),
    match_type=st.sampled_from(MatchType),
    score=st.floats(-1, 1),
    scores=st.dictionaries(st.text(max_size=4), st.floats(-1, 1), max_size=2),
    ranks=st.dictionaries(st.text(max_size=4), numbers, max_size=2),
    sub_chunk_ids=st.lists(st.text(max_size=4), max_size=2).map(tuple),
    place=places,
    metadata=st.dictionaries(
        st.text(max_size=4), st.none() | st.booleans() | st.lists(numbers, max_size=2), max_size=2
    ),
)


@given(places)
@settings(max_examples=60, deadline=None)
def test_a_place_comes_back(place: Place) -> None:
    assert load_place(dump_place(place)) == place


def test_no_place_takes_no_room() -> None:
    assert dump_place(Place()) == ""


@given(st.lists(results, max_size=3).map(tuple))
@settings(max_examples=60, deadline=None)
def test_results_come_back(found: tuple[SearchResult, ...]) -> None:
    assert load_results(dump_results(found)) == found


def test_a_field_of_a_later_version_is_passed_over() -> None:
    config = ChunkingConfig(size=100)
    assert build(ChunkingConfig, {**plain(config), "not_yet_known": 1}) == config


def test_defaults_are_left_out() -> None:
    assert plain(ChunkingConfig()) == {}
    assert plain(replace(ChunkingConfig(), size=100)) == {"size": 100}


def test_text_is_written_in_its_own_characters() -> None:
    assert dump({"a": "Привет"}) == '{"a":"Привет"}'
    assert dump({}) == ""


@pytest.mark.parametrize("tags", [(), ("a",), ("a", "b"), ("a b", "ё")])
def test_tags_come_back(tags: tuple[str, ...]) -> None:
    assert load_tags(dump_tags(tags)) == tags


def test_an_unread_mapping_is_the_mapping_that_was_written() -> None:
    value = {"a": [1, 2], "б": None}
    assert Unread(dump(value)) == value
    assert dict(Unread(dump(value))) == value
    assert (Unread("") == {}, len(Unread(dump(value))), Unread(dump(value)).get("c", 7)) == (True, 2, 7)
    with pytest.raises(KeyError):
        Unread("")["a"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_json_is_not_written(value: float) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        dump({"score": [value]})
