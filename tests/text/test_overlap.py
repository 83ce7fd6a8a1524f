"""Joining neighbours: the handed case, and that no text is ever lost or doubled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.text.overlap import MIN_TEXT_OVERLAP, contains_chunk_content, join_chunk_content, repeated_head, text_overlap

CASE = json.loads(
    (Path(__file__).parent.parent / "cases/files/json/merge-join-overlap.json").read_text(encoding="utf-8")
)
LONG = CASE["long_overlap"]["source"]


@pytest.mark.parametrize("overlap", [600, None])
def test_a_long_overlap_stands_once_though_its_lines_repeat(overlap: int | None) -> None:
    assert join_chunk_content(LONG[0:1000], LONG[400:1400], overlap=overlap) == LONG[0:1400]


@pytest.mark.parametrize("overlap", [0, None])
def test_repeating_lines_are_not_eaten(overlap: int | None) -> None:
    joined = join_chunk_content(CASE["periodic"]["a"], CASE["periodic"]["b"], overlap=overlap)
    assert joined.count("| cell | cell |") == 5


def test_a_repeated_head_stands_once() -> None:
    joined = join_chunk_content(CASE["repeated_head"]["a"], CASE["repeated_head"]["b"])
    assert joined == "| h |\n| --- |\n| 1 |\n| 2 |\n"


def test_a_head_without_a_rule_is_known_by_standing_once() -> None:
    first, second = "Город | Сумма\nКазань | 700", "Город | Сумма\nОмск | 600"
    assert join_chunk_content(first, second) == "Город | Сумма\nКазань | 700\nОмск | 600"
    assert repeated_head("а | б\nа | б\nв | г", "а | б\nд | е") == 0


def test_an_overlap_that_the_texts_contradict_is_not_used() -> None:
    assert (
        join_chunk_content("text was changed by hand", "next chunk", overlap=5)
        == "text was changed by hand\nnext chunk"
    )


def test_text_that_stands_between_two_places_is_shown_as_a_gap() -> None:
    assert join_chunk_content("a", "b", overlap=-1) == "a\nb"
    assert join_chunk_content("a", "b", overlap=-2) == join_chunk_content("a", "b", overlap=-90) == "a\n\nb"
    assert join_chunk_content("a", "b", overlap=0) == "ab"


def test_what_is_contained_is_not_said_twice() -> None:
    assert join_chunk_content("the whole of a longer text", "whole of a") == "the whole of a longer text"
    assert join_chunk_content("whole of a", "the whole of a longer text") == "the whole of a longer text"
    assert contains_chunk_content("The Whole  text", "whole text")


def test_a_short_shared_edge_is_chance() -> None:
    assert text_overlap("это было вчера", "вчера было иначе") == 0
    assert MIN_TEXT_OVERLAP == 16


@settings(max_examples=80)
@given(st.text(alphabet="абвгд еж\n", min_size=1, max_size=200), st.integers(0, 200), st.integers(0, 200))
def test_joining_what_was_split_gives_the_text_back(text: str, one: int, two: int) -> None:
    start, end = sorted((one % (len(text) + 1), two % (len(text) + 1)))
    first, second = text[:end], text[start:]
    assert join_chunk_content(first, second, overlap=end - start) == text


@settings(max_examples=120)
@given(st.text(alphabet="ab |-\n", max_size=60), st.text(alphabet="ab |-\n", max_size=60))
def test_no_line_of_either_text_is_lost(first: str, second: str) -> None:
    joined = " ".join(join_chunk_content(first, second).split())
    for line in (*first.splitlines(), *second.splitlines()):
        assert " ".join(line.split()) in joined


@settings(max_examples=80)
@given(st.text(max_size=40), st.text(max_size=40))
def test_joining_never_makes_more_than_both(first: str, second: str) -> None:
    assert len(join_chunk_content(first, second)) <= len(first) + len(second) + 1
