"""Fusion of the two lists: the sums of the description, and laws that hold for any lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opora.retriever.fusion import CANDIDATES, RRF_K, fuse, share

LISTS = st.lists(st.sampled_from([f"c{n:02}" for n in range(30)]), unique=True, max_size=CANDIDATES)


def test_the_example_of_two_lists_stands_in_the_described_order() -> None:
    fused = fuse(["travel", "report"], ["tickets", "travel"])
    assert [one.chunk_id for one in fused] == ["travel", "tickets", "report"]
    assert [one.score for one in fused] == pytest.approx([1 / 61 + 1 / 62, 1 / 61, 1 / 62])
    assert [(one.semantic_rank, one.fulltext_rank) for one in fused] == [(1, 2), (0, 1), (2, 0)]


def test_a_piece_at_the_head_of_both_lists_has_two_sixty_firsts() -> None:
    assert fuse(["a"], ["a"])[0].score == 2 / 61
    assert RRF_K == 60
    assert CANDIDATES == 20


def test_a_list_that_lacks_the_piece_gives_nothing() -> None:
    assert share(0) == 0.0
    assert fuse([], []) == []
    assert [one.score for one in fuse([], ["a"])] == [1 / 61]


def test_a_piece_that_stands_twice_in_a_list_counts_once() -> None:
    assert [(one.chunk_id, one.semantic_rank) for one in fuse(["a", "b", "a"], [])] == [("a", 1), ("b", 2)]


@given(LISTS, LISTS)
def test_the_union_is_kept_whole_and_each_piece_once(semantic: list[str], fulltext: list[str]) -> None:
    ids = [one.chunk_id for one in fuse(semantic, fulltext)]
    assert len(ids) == len(set(ids))
    assert set(ids) == set(semantic) | set(fulltext)


@given(LISTS, LISTS)
def test_the_order_is_total_and_the_scores_fall(semantic: list[str], fulltext: list[str]) -> None:
    fused = fuse(semantic, fulltext)
    keys = [(-one.score, one.chunk_id) for one in fused]
    assert keys == sorted(keys)
    assert all(0 < one.score <= 2 / (RRF_K + 1) for one in fused)


@given(LISTS, LISTS)
def test_both_lists_count_the_same(semantic: list[str], fulltext: list[str]) -> None:
    ways = [
        [(one.chunk_id, one.score) for one in fuse(*lists)] for lists in ((semantic, fulltext), (fulltext, semantic))
    ]
    assert ways[0] == ways[1]


@given(LISTS, LISTS)
def test_a_piece_that_is_better_in_both_lists_is_never_behind(semantic: list[str], fulltext: list[str]) -> None:
    fused = fuse(semantic, fulltext)
    place = {one.chunk_id: at for at, one in enumerate(fused)}
    worst = CANDIDATES + 1
    for one in fused:
        for other in fused:
            ranks = [(one.semantic_rank or worst, other.semantic_rank or worst)]
            ranks.append((one.fulltext_rank or worst, other.fulltext_rank or worst))
            if all(mine <= theirs for mine, theirs in ranks) and any(mine < theirs for mine, theirs in ranks):
                assert place[one.chunk_id] < place[other.chunk_id]
