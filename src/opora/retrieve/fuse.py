"""Makes one list out of the lists that engines return: weighted reciprocal ranks, a convex sum, or one arm's own score.

Pure: the result depends on the lists, not on the order in which they arrived. Every score lies in [0, 1] (a cosine
below 0 stays as it is), so results of several searches can be sorted together; ties are broken by chunk id.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite

from opora.domain.errors import InvalidInput
from opora.domain.search import EngineHit, ScoreKind
from opora.retrieve.scales import by_own_best

VECTOR = "vector"
KEYWORD = "keyword"
DESCRIBED = "described"
CONVEX = "convex"
RRF_K = 60
VECTOR_WEIGHT = 0.7
KEYWORD_WEIGHT = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmList:
    """What one arm (``vector`` or ``keyword``) of one store returned, best first."""

    arm: str
    hits: Sequence[EngineHit]
    rows: int = 0
    """How many rows the engine gave, of which several may have led to one chunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionWeights:
    """``k`` dampens the lead of the first ranks; the weights say how much each arm counts."""

    k: int = RRF_K
    vector: float = VECTOR_WEIGHT
    keyword: float = KEYWORD_WEIGHT

    def of(self, arm: str) -> float:
        return self.vector if arm == VECTOR else self.keyword


@dataclass(slots=True)
class Fused:
    """One chunk with the best score and rank that each arm gave it."""

    chunk_id: str
    base_id: str
    score: float = 0.0
    kind: ScoreKind = ScoreKind.NONE
    vector_score: float | None = None
    vector_rank: int = 0
    keyword_score: float | None = None
    keyword_rank: int = 0
    share: float = 0.0
    """The keyword score divided by the best of its own list."""

    @property
    def in_vector(self) -> bool:
        return self.vector_rank > 0


def fuse(lists: Sequence[ArmList], *, weights: FusionWeights | None = None, profile: str = DESCRIBED) -> list[Fused]:
    """The union of the lists by chunk, best first. With one arm only there is no fusion: its own best score counts."""
    weights = weights or FusionWeights()
    scorer = _PROFILES.get(profile)
    if scorer is None:
        raise InvalidInput.of("profile", f"There is no fusion profile '{profile}'; there are {', '.join(_PROFILES)}.")
    union = gather(lists)
    items = list(union.values())
    has_vector = any(item.vector_rank for item in items)
    has_keyword = any(item.keyword_rank for item in items)
    if has_vector and has_keyword:
        scorer(items, weights)
    elif has_vector:
        _vector_only(items)
    else:
        _keyword_only(items, weights.k)
    items.sort(key=lambda item: (-item.score, item.chunk_id))
    return items


def gather(lists: Sequence[ArmList]) -> dict[str, Fused]:
    """Chunks by id with their best place and best score in the lists of each arm.

    A rank is the place in one list, from 1; a chunk that stands twice in a list counts once, at its best place.
    """
    union: dict[str, Fused] = {}
    for one in lists:
        if one.arm == VECTOR:
            _gather_vector(union, one.hits)
        else:
            _gather_keyword(union, one.hits)
    return union


def _gather_vector(union: dict[str, Fused], hits: Sequence[EngineHit]) -> None:
    for rank, hit in enumerate(hits, start=1):
        score = hit.score if isfinite(hit.score) else 0.0
        item = union.get(hit.chunk_id)
        if item is None:
            item = union[hit.chunk_id] = Fused(hit.chunk_id, hit.base_id)
        if not item.vector_rank or rank < item.vector_rank:
            item.vector_rank = rank
        if item.vector_score is None or score > item.vector_score:
            item.vector_score = score


def _gather_keyword(union: dict[str, Fused], hits: Sequence[EngineHit]) -> None:
    has_scores = bool(hits) and hits[0].kind is not ScoreKind.NONE
    shares = by_own_best([hit.score for hit in hits]) if has_scores else [0.0] * len(hits)
    for rank, (hit, share) in enumerate(zip(hits, shares, strict=True), start=1):
        item = union.get(hit.chunk_id)
        if item is None:
            item = union[hit.chunk_id] = Fused(hit.chunk_id, hit.base_id)
        if not item.keyword_rank or rank < item.keyword_rank:
            item.keyword_rank = rank
        if not has_scores:
            continue
        score = hit.score if isfinite(hit.score) else 0.0
        if item.keyword_score is None or score > item.keyword_score:
            item.keyword_score = score
        if share > item.share:
            item.share = share


def reciprocal_rank(rank: int, k: int) -> float:
    """(k + 1) / (k + rank): 1 for the first place, 0 for a chunk that is not in the list (rank 0)."""
    return (k + 1) / (k + rank) if rank else 0.0


def _described(items: Sequence[Fused], weights: FusionWeights) -> None:
    """Sum of w / (k + rank), divided by its maximum (w_v + w_k) / (k + 1), in the form that gives exactly 1.0 there."""
    total = weights.vector + weights.keyword
    if total <= 0 or weights.vector < 0 or weights.keyword < 0:
        raise InvalidInput.of("weights", "The weights of the arms must not be negative, and one must be above 0.")
    deepest = max(max(item.vector_rank, item.keyword_rank) for item in items)
    by_rank = [reciprocal_rank(rank, weights.k) for rank in range(deepest + 1)]
    for item in items:
        item.score = (weights.vector * by_rank[item.vector_rank] + weights.keyword * by_rank[item.keyword_rank]) / total
        item.kind = ScoreKind.RRF


def _convex(items: Sequence[Fused], weights: FusionWeights) -> None:
    """Weighted mean of the arms' scores, each spread over [0, 1] by its own least and greatest; absent counts as 0.

    Where an engine gives no keyword scores, the reciprocal rank stands in for one.
    """
    total = weights.vector + weights.keyword
    if total <= 0 or weights.vector < 0 or weights.keyword < 0:
        raise InvalidInput.of("weights", "The weights of the arms must not be negative, and one must be above 0.")
    vector = _spread([item.vector_score for item in items if item.vector_score is not None])
    keyword = _spread([item.share for item in items if item.keyword_rank and item.keyword_score is not None])
    for item in items:
        value = weights.vector * vector(item.vector_score) if item.vector_score is not None else 0.0
        if item.keyword_rank:
            scored = item.keyword_score is not None
            value += weights.keyword * (
                keyword(item.share) if scored else reciprocal_rank(item.keyword_rank, weights.k)
            )
        item.score = value / total
        item.kind = ScoreKind.CONVEX


def _vector_only(items: Sequence[Fused]) -> None:
    for item in items:
        item.score = item.vector_score or 0.0
        item.kind = ScoreKind.COSINE


def _keyword_only(items: Sequence[Fused], k: int) -> None:
    """The share of the list's own best; the reciprocal rank where the engine gives no scores."""
    for item in items:
        if item.keyword_score is None:
            item.score, item.kind = reciprocal_rank(item.keyword_rank, k), ScoreKind.RRF
        else:
            item.score, item.kind = item.share, ScoreKind.BM25


def _spread(scores: Sequence[float]) -> Callable[[float], float]:
    low, high = (min(scores), max(scores)) if scores else (0.0, 0.0)
    width = high - low
    return (lambda score: (score - low) / width) if width > 0 else (lambda score: 1.0)


_PROFILES: dict[str, Callable[[Sequence[Fused], FusionWeights], None]] = {DESCRIBED: _described, CONVEX: _convex}
PROFILES = tuple(_PROFILES)
