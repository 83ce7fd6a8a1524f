"""Variety: the handed case, and equality with the plain version that compares every pair."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.rank.mmr import MMR_LAMBDA, TokenIndex, select_mmr
from opora.text.tokens import jaccard

ITEMS = {
    "p1": (0.9, "a b c d e f g h i j"),
    "p2": (0.89, "a b c d e f g h i j"),
    "p3": (0.6, "k l m n o p q r s t"),
    "p4": (0.7, "a b c d e u v w x y"),
    "p5": (0.3, ""),
    "p6": (0.29, ""),
}


def picks(items: dict[str, tuple[float, str]], k: int, weight: float = MMR_LAMBDA) -> list[tuple[str, float]]:
    names = list(items)
    tokens = [frozenset(text.split()) for _, text in items.values()]
    chosen = select_mmr([score for score, _ in items.values()], tokens.__getitem__, k=k, weight=weight)
    return [(names[index], round(value, 6)) for index, value in chosen]


def plain(relevance: list[float], tokens: list[frozenset[str]], k: int, weight: float) -> list[tuple[int, float]]:
    chosen: list[tuple[int, float]] = []
    if k == 1 and relevance:
        # A single pick goes by relevance, also with a weight of 0.
        best = max(range(len(relevance)), key=lambda i: (relevance[i], -i))
        return [(best, weight * relevance[best])]
    while len(chosen) < min(k, len(relevance)):
        taken = [index for index, _ in chosen]
        values = {
            i: weight * relevance[i] - (1.0 - weight) * max([jaccard(tokens[i], tokens[j]) for j in taken], default=0.0)
            for i in range(len(relevance))
            if i not in taken
        }
        best = max(values, key=lambda i: (values[i], -i))
        chosen.append((best, values[best]))
    return chosen


def test_the_handed_case() -> None:
    assert MMR_LAMBDA == 0.7
    for _ in range(100):
        assert picks(ITEMS, 3) == [("p1", 0.63), ("p3", 0.42), ("p4", 0.39)]
    assert [name for name, _ in picks(ITEMS, 10)] == ["p1", "p3", "p4", "p2", "p5", "p6"]


@pytest.mark.parametrize(("weight", "names"), [(0.0, ["p1", "p3", "p5"]), (1.0, ["p1", "p2", "p4"])])
def test_a_weight_of_zero_or_one_is_a_weight(weight: float, names: list[str]) -> None:
    assert [name for name, _ in picks(ITEMS, 3, weight)] == names


def test_one_pick_needs_no_words() -> None:
    def refuse(index: int) -> frozenset[str]:
        raise AssertionError(index)

    assert select_mmr([0.1, 0.9, 0.9], refuse, k=1)[0][0] == 1
    assert select_mmr([0.1], refuse, k=0) == []
    assert select_mmr([], refuse, k=5) == []


def test_values_below_zero_do_not_stop_the_picking() -> None:
    same = dict.fromkeys("abc", (0.0, "one two three"))
    assert [name for name, _ in picks(same, 3)] == ["a", "b", "c"]
    assert picks(same, 3)[2][1] < 0


words = st.sets(st.sampled_from("abcdefghijkl"), max_size=8).map(frozenset)
score = st.floats(-1, 1.5, allow_nan=False)


@settings(max_examples=150)
@given(st.lists(st.tuples(score, words), max_size=12), st.integers(0, 14), st.sampled_from([0.0, 0.3, 0.7, 1.0]))
def test_it_picks_what_comparing_every_pair_would(
    items: list[tuple[float, frozenset[str]]], k: int, weight: float
) -> None:
    relevance, tokens = [s for s, _ in items], [t for _, t in items]
    assert select_mmr(relevance, tokens.__getitem__, k=k, weight=weight) == plain(relevance, tokens, k, weight)


@settings(max_examples=60)
@given(st.lists(words, min_size=1, max_size=8))
def test_the_index_counts_shared_tokens(sets: list[frozenset[str]]) -> None:
    index = TokenIndex(sets)
    for i, tokens in enumerate(sets):
        assert index.shared_with(i).tolist() == [len(tokens & other) for other in sets]
