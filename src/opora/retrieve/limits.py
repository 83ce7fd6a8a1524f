"""The numbers of one search, settled once: counts, thresholds of each arm, weights and profile."""

from __future__ import annotations

from dataclasses import dataclass

from opora.domain.scope import Scope
from opora.domain.search import SearchRequest
from opora.domain.settings import RetrievalSettings
from opora.retrieve.fuse import DESCRIBED, FusionWeights
from opora.retrieve.targets import normalised_match_count, pool_size

NO_THRESHOLD = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    match_count: int
    top_k: int
    vector_threshold: float
    """Cosine; 0 switches the filter off."""
    keyword_threshold: float
    """A share of a keyword list's own best score; for lists that are not fused."""
    threshold_before_fusion: bool
    """The request itself set the keyword threshold, so that it holds for the hybrid path too."""
    weights: FusionWeights
    profile: str


def settle(
    scope: Scope, request: SearchRequest, values: RetrievalSettings, *, bases: int, model_threshold: float
) -> Limits:
    """Request over settings over the model's card. A scope of picked documents or tags has no recall thresholds."""
    count = normalised_match_count(request.match_count)
    trusted = scope.is_explicit
    vector = values.vector_threshold if values.vector_threshold is not None else model_threshold
    keyword = values.keyword_threshold
    if trusted:
        vector = keyword = NO_THRESHOLD
    return Limits(
        match_count=count,
        top_k=pool_size(count, bases),
        vector_threshold=vector if request.vector_threshold is None else request.vector_threshold,
        keyword_threshold=keyword if request.keyword_threshold is None else request.keyword_threshold,
        threshold_before_fusion=request.keyword_threshold is not None,
        weights=FusionWeights(k=values.rrf_k, vector=values.vector_weight, keyword=values.keyword_weight),
        profile=request.profile if request.profile != DESCRIBED else values.profile,
    )
