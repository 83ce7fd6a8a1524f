"""One score of what the model says, how retrieval found it and how far its source is trusted."""

from __future__ import annotations

from dataclasses import replace

from opora.domain.knowledge import ChunkType
from opora.domain.search import MatchType, ScoreKind, SearchResult

MODEL_WEIGHT = 0.6
BASE_WEIGHT = 0.3
SOURCE_WEIGHT = 0.1
WEB_SOURCE = 0.95
OTHER_SOURCE = 1.0


def composite_score(model: float, base: float, source: float) -> float:
    """0.6 x model + 0.3 x retrieval + 0.1 x source, in [0, 1]."""
    return min(1.0, max(0.0, MODEL_WEIGHT * model + BASE_WEIGHT * base + SOURCE_WEIGHT * source))


def source_weight(result: SearchResult) -> float:
    is_web = result.chunk_type is ChunkType.WEB_SEARCH or result.match_type is MatchType.WEB
    return WEB_SOURCE if is_web else OTHER_SOURCE


def scored(result: SearchResult, model: float) -> SearchResult:
    """A result with its composite score. A graph hit has no retrieval score: the model's stands in for it."""
    base = model if result.match_type is MatchType.GRAPH else result.score
    composite = composite_score(model, base, source_weight(result))
    scores = {**result.scores, "base": base, "model": model, "composite": composite}
    return replace(result, score=composite, kind=ScoreKind.COMPOSITE, scores=scores)


def unscored(result: SearchResult) -> SearchResult:
    """A result as it stands when no model judged it: the retrieval score is the relevance."""
    return replace(result, scores={**result.scores, "base": result.score})
