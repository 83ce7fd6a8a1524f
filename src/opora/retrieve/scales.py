"""Brings scores of different engines to one scale: cosine clamped to [0, 1] where kinds of engine are mixed."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace

from opora.domain.search import EngineHit, ScoreKind


def finite(score: float) -> float:
    """The score, or 0 for NaN and infinities, which would break every comparison after."""
    return score if math.isfinite(score) else 0.0


def clamp01(score: float) -> float:
    return min(1.0, max(0.0, finite(score)))


def is_mixed(engine_names: Collection[str]) -> bool:
    """Whether the groups of one search stand in different kinds of engine."""
    return len(set(engine_names)) > 1


def normalised(hits: Sequence[EngineHit], *, mixed: bool) -> Sequence[EngineHit]:
    """Hits as fusion may compare them.

    Cosine is clamped where engines are mixed. BM25 has no upper bound and is left as it is: lists are compared by
    their own best later. Scores that are no numbers become 0.
    """
    if all(_fits(hit, mixed) for hit in hits):
        return hits
    return [
        replace(hit, score=clamp01(hit.score) if mixed and hit.kind is ScoreKind.COSINE else finite(hit.score))
        for hit in hits
    ]


def by_own_best(scores: Sequence[float]) -> list[float]:
    """Scores of one list divided by its best, in [0, 1]; a list whose best is not above 0 keeps only its order."""
    best = max((score for score in scores if math.isfinite(score)), default=0.0)
    if best <= 0.0:
        return [1.0 / rank for rank in range(1, len(scores) + 1)]
    return [score / best if 0.0 <= score <= best else clamp01(score / best) for score in scores]


def _fits(hit: EngineHit, mixed: bool) -> bool:
    if not math.isfinite(hit.score):
        return False
    return not (mixed and hit.kind is ScoreKind.COSINE and not 0.0 <= hit.score <= 1.0)
