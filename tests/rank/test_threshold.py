"""Which scores pass, in the order of the fallbacks."""

from __future__ import annotations

import pytest

from opora.rank.threshold import FALLBACK_MIN_SCORE, RELAXED_FACTOR, RELAXED_FLOOR, fallback_floor, passing


@pytest.mark.parametrize(
    ("scores", "threshold", "kept"),
    [
        ([0.5, 0.2, 0.3], 0.3, [0, 2]),
        ([0.49, 0.36, 0.34], 0.5, [0, 1]),
        ([0.31, 0.29], 0.35, [0]),
        ([0.2, 0.29], 0.5, [1]),
        ([0.2, 0.25], 0.3, [1]),
        ([0.1, 0.149], 0.3, []),
        ([0.15], 0.3, [0]),
        ([0.2, 0.2], 0.3, [0]),
        ([], 0.3, []),
        ([0.0], 0.0, [0]),
    ],
)
def test_threshold_then_a_lower_one_then_the_best_then_none(
    scores: list[float], threshold: float, kept: list[int]
) -> None:
    assert passing(scores, threshold=threshold) == kept


def test_a_scope_that_was_picked_keeps_its_best_whatever_its_score() -> None:
    assert fallback_floor(0.15, explicit_scope=True) == 0.0
    assert fallback_floor(0.15, explicit_scope=False) == 0.15
    assert passing([0.01, 0.02], threshold=0.3, fallback_floor=0.0) == [1]


def test_the_described_numbers() -> None:
    assert (RELAXED_FACTOR, RELAXED_FLOOR, FALLBACK_MIN_SCORE) == (0.7, 0.3, 0.15)
