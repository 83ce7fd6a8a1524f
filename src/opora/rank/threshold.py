"""Which of the model's scores are good enough, and what is kept when none is."""

from __future__ import annotations

from collections.abc import Sequence

RELAXED_FACTOR = 0.7
RELAXED_FLOOR = 0.3
FALLBACK_MIN_SCORE = 0.15
EXPLICIT_SCOPE_MIN_SCORE = 0.0


def passing(scores: Sequence[float], *, threshold: float, fallback_floor: float = FALLBACK_MIN_SCORE) -> list[int]:
    """Indexes of the scores that count, in their order.

    Those at or above the threshold; else, when the threshold is above 0.3, those at or above max(0.3, 0.7 x
    threshold); else the best one if it reaches the floor; else none, which is 'nothing found'.
    """
    kept = [i for i, score in enumerate(scores) if score >= threshold]
    if not kept and threshold > RELAXED_FLOOR:
        relaxed = max(RELAXED_FLOOR, RELAXED_FACTOR * threshold)
        kept = [i for i, score in enumerate(scores) if score >= relaxed]
    if kept or not scores:
        return kept
    best = max(range(len(scores)), key=lambda i: (scores[i], -i))
    return [best] if scores[best] >= fallback_floor else []


def fallback_floor(configured: float, *, explicit_scope: bool) -> float:
    """The floor for the last resort: 0 where the user picked the documents or tags."""
    return EXPLICIT_SCOPE_MIN_SCORE if explicit_scope else configured
