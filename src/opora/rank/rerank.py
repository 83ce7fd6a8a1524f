"""Asks the reranking model, keeps what passes, and goes on with the retrieval order when there is no model's word."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from opora.domain.errors import ModelError, OporaError
from opora.domain.knowledge import ChunkType
from opora.domain.search import MatchType, SearchResult
from opora.domain.settings import RetrievalSettings
from opora.domain.trace import Drop
from opora.ports import Reranker
from opora.rank.composite import scored, unscored
from opora.rank.enrich import enriched_passage, truncated
from opora.rank.images import kept_pictures
from opora.rank.threshold import fallback_floor, passing

MAX_CANDIDATES = 200
RERANK_TIMEOUT = 60.0
STAGE = "ranked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reranked:
    """Results with their relevance, best first; ``kept`` are pictures to stand after all others."""

    results: tuple[SearchResult, ...]
    kept: tuple[SearchResult, ...] = ()
    drops: tuple[Drop, ...] = ()
    warnings: tuple[str, ...] = ()
    diagnostics: Mapping[str, int] = field(default_factory=dict)


async def rerank(
    results: Sequence[SearchResult],
    *,
    query: str,
    values: RetrievalSettings,
    reranker: Reranker | None,
    explicit_scope: bool,
    vector_threshold: float,
    seconds: float = RERANK_TIMEOUT,
) -> Reranked:
    """Composite scores of what the model lets through; without its word, all results by their retrieval score."""
    ordered = sorted(results, key=lambda result: (-result.score, result.chunk_id))
    if reranker is None or not ordered:
        return Reranked(results=unjudged(ordered))
    candidates, rest = ordered[:MAX_CANDIDATES], ordered[MAX_CANDIDATES:]
    try:
        scores = await _scores(reranker, query, candidates, seconds)
    except OporaError as error:
        reason = f"{error.message} {error.hint}".strip()
        return Reranked(
            results=unjudged(ordered), warnings=(f"Reranking failed, the order is that of retrieval: {reason}",)
        )
    floor = fallback_floor(values.rerank_fallback_min_score, explicit_scope=explicit_scope)
    kept = set(passing(scores, threshold=values.rerank_threshold, fallback_floor=floor))
    judged = [scored(result, score) for result, score in zip(candidates, scores, strict=True)]
    rejected = [result for i, result in enumerate(judged) if i not in kept]
    pictures = () if reranker.card.sees_images else tuple(kept_pictures(rejected, vector_threshold=vector_threshold))
    back = {result.chunk_id for result in pictures}
    drops = [
        Drop(chunk_id=r.chunk_id, stage=STAGE, reason="below_threshold", detail=f"model score {r.scores['model']:.3f}")
        for r in rejected
        if r.chunk_id not in back
    ]
    drops += [
        Drop(chunk_id=r.chunk_id, stage=STAGE, reason="over_top_k", detail="not shown to the model") for r in rest
    ]
    passed = sorted((judged[i] for i in kept), key=lambda result: (-result.score, result.chunk_id))
    images = sum(result.chunk_type is ChunkType.IMAGE_VECTOR for result in judged)
    counts = {"images_scored": images, "images_kept": len(pictures)} if images else {}
    return Reranked(results=tuple(passed), kept=pictures, drops=tuple(drops), diagnostics=counts)


def unjudged(results: Sequence[SearchResult]) -> tuple[SearchResult, ...]:
    """Results by their retrieval score; graph hits, which have none, stand last."""
    lowest = min((result.score for result in results), default=0.0)
    scored_last = [
        replace(result, score=min(0.0, lowest)) if result.match_type is MatchType.GRAPH and not result.score else result
        for result in results
    ]
    scored_last.sort(key=lambda result: (-result.score, result.match_type is MatchType.GRAPH, result.chunk_id))
    return tuple(unscored(result) for result in scored_last)


async def _scores(reranker: Reranker, query: str, candidates: Sequence[SearchResult], seconds: float) -> list[float]:
    limit = reranker.card.max_passage_chars
    passages = [truncated(enriched_passage(result), limit) for result in candidates]
    try:
        async with asyncio.timeout(seconds):
            scores = await reranker.rerank(query, passages)
    except TimeoutError as error:
        raise ModelError(f"the model took longer than {seconds:g} s.") from error
    if len(scores) != len(candidates):
        raise ModelError(f"the model gave {len(scores)} scores for {len(candidates)} passages.")
    if not all(math.isfinite(score) for score in scores):
        raise ModelError("the model gave scores that are no numbers.")
    return scores
