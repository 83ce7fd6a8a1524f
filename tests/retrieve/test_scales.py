"""Scores of different engines on one scale."""

from __future__ import annotations

import math

import pytest

from opora.domain.search import EngineHit, ScoreKind
from opora.retrieve.scales import by_own_best, clamp01, is_mixed, normalised


def hit(score: float, kind: ScoreKind = ScoreKind.COSINE) -> EngineHit:
    return EngineHit(chunk_id="c", base_id="b", document_id="d", score=score, kind=kind)


@pytest.mark.parametrize(
    ("score", "clamped"), [(-0.2, 0.0), (0.4, 0.4), (1.7, 1.0), (math.nan, 0.0), (math.inf, 0.0), (-math.inf, 0.0)]
)
def test_clamping_takes_any_number(score: float, clamped: float) -> None:
    assert clamp01(score) == clamped


def test_cosine_is_clamped_only_where_engines_are_mixed() -> None:
    assert [h.score for h in normalised([hit(-0.2)], mixed=False)] == [-0.2]
    assert [h.score for h in normalised([hit(-0.2), hit(1.2)], mixed=True)] == [0.0, 1.0]
    assert [h.score for h in normalised([hit(17.0, ScoreKind.BM25)], mixed=True)] == [17.0]
    assert [h.score for h in normalised([hit(math.nan, ScoreKind.BM25)], mixed=False)] == [0.0]


def test_mixed_means_more_than_one_kind_of_engine() -> None:
    assert is_mixed(["sqlite", "qdrant"])
    assert not is_mixed(["sqlite", "sqlite"])


@pytest.mark.parametrize(
    ("scores", "shares"),
    [
        ([], []),
        ([4.0, 1.0], [1.0, 0.25]),
        ([0.0, 0.0], [1.0, 0.5]),
        ([-1.0, -2.0], [1.0, 0.5]),
        ([2.0, -1.0], [1.0, 0.0]),
    ],
)
def test_a_list_is_divided_by_its_own_best(scores: list[float], shares: list[float]) -> None:
    assert by_own_best(scores) == shares
