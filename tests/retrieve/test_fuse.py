"""Fusion: the handed case number by number, its laws, and the paths that need none."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.domain.errors import InvalidInput
from opora.domain.search import EngineHit, ScoreKind
from opora.retrieve import fuse as module
from opora.retrieve.fuse import CONVEX, KEYWORD, VECTOR, ArmList, Fused, FusionWeights, fuse, reciprocal_rank

CASE_VECTOR = ["A", "B", "C", "D", "B"]
CASE_KEYWORD = ["B", "E", "A"]


def hits(ids: Sequence[str], kind: ScoreKind, scores: Sequence[float] | None = None) -> list[EngineHit]:
    values = scores if scores is not None else [1.0 - 0.01 * place for place in range(len(ids))]
    return [
        EngineHit(chunk_id=i, base_id="kb", document_id="d", score=s, kind=kind)
        for i, s in zip(ids, values, strict=True)
    ]


def vector(ids: Sequence[str], scores: Sequence[float] | None = None) -> ArmList:
    return ArmList(arm=VECTOR, hits=hits(ids, ScoreKind.COSINE, scores))


def keyword(ids: Sequence[str], scores: Sequence[float] | None = None, kind: ScoreKind = ScoreKind.BM25) -> ArmList:
    return ArmList(arm=KEYWORD, hits=hits(ids, kind, scores))


def listed(items: list[Fused]) -> list[tuple[str, float]]:
    return [(item.chunk_id, round(item.score, 6)) for item in items]


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ((1, 1), [("B", 0.991935), ("A", 0.984127), ("E", 0.491935), ("C", 0.484127), ("D", 0.476562)]),
        ((0.7, 0.3), [("A", 0.990476), ("B", 0.98871), ("C", 0.677778), ("D", 0.667187), ("E", 0.295161)]),
        ((1, 0), [("A", 1.0), ("B", 0.983871), ("C", 0.968254), ("D", 0.953125), ("E", 0.0)]),
    ],
)
def test_ranks_are_fused_exactly(weights: tuple[float, float], expected: list[tuple[str, float]]) -> None:
    fused = fuse(
        [vector(CASE_VECTOR), keyword(CASE_KEYWORD)], weights=FusionWeights(vector=weights[0], keyword=weights[1])
    )
    assert listed(fused) == expected
    assert all(item.kind is ScoreKind.RRF for item in fused)


def test_the_described_numbers() -> None:
    assert (module.RRF_K, module.VECTOR_WEIGHT, module.KEYWORD_WEIGHT) == (60, 0.7, 0.3)
    assert FusionWeights() == FusionWeights(k=60, vector=0.7, keyword=0.3)


def test_first_in_both_arms_is_exactly_one() -> None:
    for weights in (FusionWeights(), FusionWeights(vector=1, keyword=1), FusionWeights(vector=0.1, keyword=0.7)):
        assert fuse([vector(["x"]), keyword(["x"])], weights=weights)[0].score == 1.0


def test_first_in_one_arm_only_gets_the_weight_of_that_arm() -> None:
    scores = dict(listed(fuse([vector(["x"]), keyword(["y"])])))
    assert scores == {"x": 0.7, "y": 0.3}


def test_ties_keep_one_order() -> None:
    equal = FusionWeights(vector=1, keyword=1)
    for _ in range(100):
        assert listed(fuse([vector(["X"]), keyword(["Y"])], weights=equal)) == [("X", 0.5), ("Y", 0.5)]
        assert listed(fuse([keyword(["Y"]), vector(["X"])], weights=equal)) == [("X", 0.5), ("Y", 0.5)]


def test_an_absent_arm_counts_nothing() -> None:
    assert reciprocal_rank(0, 60) == 0.0
    assert reciprocal_rank(1, 60) == 1.0


def test_vectors_alone_keep_their_cosine() -> None:
    fused = fuse([vector(["a", "b", "a"], [0.9, 0.8, 0.95]), ArmList(arm=KEYWORD, hits=[])])
    assert listed(fused) == [("a", 0.95), ("b", 0.8)]
    assert {item.kind for item in fused} == {ScoreKind.COSINE}


def test_words_alone_are_divided_by_the_best_of_their_own_list() -> None:
    fused = fuse([keyword(["a", "b"], [12.0, 3.0]), keyword(["c", "d"], [0.4, 0.3])])
    assert listed(fused) == [("a", 1.0), ("c", 1.0), ("d", 0.75), ("b", 0.25)]
    assert {item.keyword_score for item in fused} == {12.0, 3.0, 0.4, 0.3}


def test_lists_without_scores_keep_their_order() -> None:
    fused = fuse([keyword(["c", "a", "b"], [0.0, 0.0, 0.0], ScoreKind.NONE)])
    assert [item.chunk_id for item in fused] == ["c", "a", "b"]
    assert fused[0].score == 1.0


def test_each_list_ranks_from_one_and_the_best_place_counts() -> None:
    fused = {item.chunk_id: item for item in fuse([vector(["a", "b"]), vector(["b", "c"]), keyword(["a"])])}
    assert (fused["b"].vector_rank, fused["c"].vector_rank) == (1, 2)


def test_scores_that_are_no_numbers_do_not_break_the_order() -> None:
    fused = fuse([vector(["a", "b", "c"], [math.nan, 0.5, math.inf])])
    assert listed(fused) == [("b", 0.5), ("a", 0.0), ("c", 0.0)]


def test_the_convex_profile_spreads_each_arm_and_weighs_it() -> None:
    fused = fuse([vector(["a", "b"], [0.9, 0.8]), keyword(["b", "c"], [10.0, 5.0])], profile=CONVEX)
    assert listed(fused) == [("a", 0.7), ("b", 0.3), ("c", 0.0)]
    assert fused[0].kind is ScoreKind.CONVEX


def test_an_unknown_profile_and_senseless_weights_are_refused() -> None:
    with pytest.raises(InvalidInput):
        fuse([vector(["a"])], profile="magic")
    for bad in (FusionWeights(vector=0, keyword=0), FusionWeights(vector=-1, keyword=2)):
        for profile in module.PROFILES:
            with pytest.raises(InvalidInput):
                fuse([vector(["a"]), keyword(["a"])], weights=bad, profile=profile)


ids = st.lists(st.sampled_from("abcdefghij"), max_size=8)
arms = st.lists(st.tuples(st.booleans(), ids), max_size=4)


@settings(max_examples=60)
@given(arms, st.integers(0, 1000), st.sampled_from(module.PROFILES))
def test_the_order_of_arrival_changes_nothing(made: list[tuple[bool, list[str]]], seed: int, profile: str) -> None:
    lists = [vector(found) if is_vector else keyword(found) for is_vector, found in made]
    shuffled = random.Random(seed).sample(lists, len(lists))
    assert fuse(lists, profile=profile) == fuse(shuffled, profile=profile)


@settings(max_examples=60)
@given(arms, st.sampled_from(module.PROFILES))
def test_scores_lie_in_zero_to_one_and_each_chunk_comes_once(made: list[tuple[bool, list[str]]], profile: str) -> None:
    lists = [vector(found) if is_vector else keyword(found) for is_vector, found in made]
    fused = fuse(lists, profile=profile)
    assert sorted(item.chunk_id for item in fused) == sorted({i for _, found in made for i in found})
    assert all(0.0 <= item.score <= 1.0 for item in fused)
    assert [(-item.score, item.chunk_id) for item in fused] == sorted((-item.score, item.chunk_id) for item in fused)


@settings(max_examples=60)
@given(st.permutations("abcdef"), st.permutations("abcdef"), st.sampled_from("abcdef"))
def test_a_better_rank_never_lowers_a_score(first: list[str], second: list[str], chosen: str) -> None:
    before = {item.chunk_id: item.score for item in fuse([vector(first), keyword(second)])}
    place = first.index(chosen)
    better = [*first[: max(0, place - 1)], chosen, *(i for i in first[max(0, place - 1) :] if i != chosen)]
    after = {item.chunk_id: item.score for item in fuse([vector(better), keyword(second)])}
    assert after[chosen] >= before[chosen]
