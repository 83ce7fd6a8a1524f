"""The composite score and the raises."""

from __future__ import annotations

import math

import pytest

from opora.domain.knowledge import ChunkType
from opora.domain.search import MatchType, ScoreKind
from opora.rank import boosts
from opora.rank.composite import (
    BASE_WEIGHT,
    MODEL_WEIGHT,
    OTHER_SOURCE,
    SOURCE_WEIGHT,
    WEB_SOURCE,
    composite_score,
    scored,
    unscored,
)


@pytest.mark.parametrize(
    ("model", "base", "source", "score"),
    [(0.5, 0.5, 1.0, 0.55), (1.0, 1.0, 1.0, 1.0), (0.0, 0.0, 0.0, 0.0), (2.0, 1.0, 1.0, 1.0), (-1.0, 0.0, 0.0, 0.0)],
)
def test_six_three_one(model: float, base: float, source: float, score: float) -> None:
    assert composite_score(model, base, source) == pytest.approx(score)


def test_the_parts_are_kept_beside_the_score(result_of) -> None:
    result = scored(result_of("a", 0.8), 0.5)
    assert result.kind is ScoreKind.COMPOSITE
    assert result.scores == {"base": 0.8, "model": 0.5, "composite": pytest.approx(0.64)}
    assert result.score == result.scores["composite"]


def test_the_web_is_trusted_a_little_less(result_of) -> None:
    web = scored(result_of("w", 0.8, match_type=MatchType.WEB), 0.5)
    assert scored(result_of("a", 0.8), 0.5).score - web.score == pytest.approx(0.005)
    assert scored(result_of("w", 0.8, chunk_type=ChunkType.WEB_SEARCH), 0.5).score == web.score
    assert (MODEL_WEIGHT, BASE_WEIGHT, SOURCE_WEIGHT, WEB_SOURCE, OTHER_SOURCE) == (0.6, 0.3, 0.1, 0.95, 1.0)


def test_a_graph_hit_takes_the_score_of_the_model_for_its_own(result_of) -> None:
    assert scored(result_of("g", 0.0, match_type=MatchType.GRAPH), 0.5).score == pytest.approx(0.55)


def test_without_a_model_the_retrieval_score_stays(result_of) -> None:
    result = unscored(result_of("a", 0.8))
    assert (result.score, result.kind, result.scores) == (0.8, ScoreKind.RRF, {"base": 0.8})


def test_faq_entries_are_raised_without_a_cap(result_of) -> None:
    items = [
        result_of("f", 0.95, chunk_type=ChunkType.FAQ),
        result_of("g", 0.9, chunk_type=ChunkType.FAQ),
        result_of("d"),
    ]
    raised = boosts.faq_boosted(items, enabled=True, boost=boosts.FAQ_SCORE_BOOST)
    assert [r.score for r in raised] == [pytest.approx(1.14), pytest.approx(1.08), 0.5]
    assert [r.metadata for r in raised] == [{"faq_boosted": True}, {"faq_boosted": True}, {}]
    assert (
        boosts.faq_boosted(items, enabled=False, boost=1.2)
        == boosts.faq_boosted(items, enabled=True, boost=1.0)
        == items
    )


@pytest.mark.parametrize(("uses", "factor"), [(0, 1.0), (1, 1.0), (2, 1.05), (4, 1.1), (8, 1.15), (1000, 1.15)])
def test_affinity_grows_by_the_logarithm_from_two_uses(uses: int, factor: float) -> None:
    assert boosts.affinity_factor(uses) == pytest.approx(factor)
    assert math.isclose(boosts.AFFINITY_MAX, 1.15)
    assert boosts.AFFINITY_MIN_USES == 2


def test_what_a_boost_did_is_marked_and_places_are_numbered_anew(result_of) -> None:
    page = result_of("w", 0.5, chunk_type=ChunkType.WIKI_PAGE, ranks={"vector": 3, "ranked": 2})
    items = [result_of("a", 0.6, ranks={"ranked": 1}), page]
    raised = boosts.wiki_boosted(boosts.memory_affinity(items, {"doc-w": 4}), enabled=True)
    assert [(r.chunk_id, r.ranks) for r in raised] == [("w", {"vector": 3, "ranked": 1}), ("a", {"ranked": 2})]
    assert raised[0].metadata == {"memory_affinity": pytest.approx(1.1), "wiki_boosted": 1.3}
    assert raised[1].metadata == {}
    assert raised[0].scores == page.scores


def test_no_boost_lifts_kept_pictures_over_the_others_or_sinks_a_negative_score(result_of) -> None:
    items = [result_of("a", 0.2), result_of("n", -0.5), result_of("p", 0.9, metadata={"kept_by": "image_vector"})]
    assert [r.chunk_id for r in boosts.memory_affinity(items, {"doc-a": 2, "doc-n": 9})] == ["a", "n", "p"]
    assert boosts.memory_affinity(items, {"doc-n": 9})[1].score == -0.5


def test_affinity_settles_near_ties_and_only_those(result_of) -> None:
    items = [result_of("a", 0.8), result_of("b", 0.79), result_of("c", 0.5)]
    assert [r.chunk_id for r in boosts.memory_affinity(items, {"doc-b": 2, "doc-c": 99})] == ["b", "a", "c"]
    assert boosts.memory_affinity(items, {"doc-b": 1}) == items


def test_wiki_pages_are_raised_where_a_wiki_is_searched(result_of) -> None:
    items = [result_of("a", 0.6), result_of("w", 0.5, chunk_type=ChunkType.WIKI_PAGE)]
    raised = boosts.wiki_boosted(items, enabled=True)
    assert [(r.chunk_id, r.score) for r in raised] == [("w", pytest.approx(0.65)), ("a", 0.6)]
    assert boosts.wiki_boosted(items, enabled=False) == items
    assert boosts.WIKI_BOOST == 1.3
