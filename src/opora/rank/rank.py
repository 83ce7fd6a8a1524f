"""From found to ranked: rerank, compose the score, raise FAQ entries, and pick for variety."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opora.domain.search import SearchResult
from opora.domain.settings import Effective
from opora.domain.trace import Drop, Stage
from opora.ports import Reranker
from opora.rank.boosts import faq_boosted, resorted
from opora.rank.enrich import enriched_passage
from opora.rank.mmr import select_mmr
from opora.rank.rerank import RERANK_TIMEOUT, STAGE, rerank
from opora.text.tokens import token_set


async def rank(
    results: Sequence[SearchResult],
    *,
    query: str,
    settings: Effective | None = None,
    reranker: Reranker | None = None,
    explicit_scope: bool = False,
    vector_threshold: float = 0.0,
    seconds: float = RERANK_TIMEOUT,
) -> Stage:
    """The ``rerank_top_k`` results that answer best and are unlike each other, in the order of picking.

    Kept pictures come on top of that number. A model that is missing or fails leaves the retrieval scores as they
    are, without a threshold; its failure is a warning. Memory affinity and the wiki boost (`opora.rank.boosts`) are
    applied after, in that order, by the plugins inside its own.
    """
    values = (settings or Effective()).values
    judged = await rerank(
        results,
        query=query,
        values=values,
        reranker=reranker,
        explicit_scope=explicit_scope,
        vector_threshold=vector_threshold,
        seconds=seconds,
    )
    boosted = resorted(faq_boosted(judged.results, enabled=values.faq_priority_enabled, boost=values.faq_score_boost))
    picked, drops = diversified(boosted, k=values.rerank_top_k, weight=values.mmr_lambda)
    ranked = [
        replace(result, ranks={**result.ranks, STAGE: place}) for place, result in enumerate((*picked, *judged.kept), 1)
    ]
    return Stage(
        results=tuple(ranked),
        drops=(*judged.drops, *drops),
        warnings=judged.warnings,
        diagnostics=judged.diagnostics,
    )


def diversified(results: Sequence[SearchResult], *, k: int, weight: float) -> tuple[list[SearchResult], list[Drop]]:
    """The picks, and why each of the others was not: too low, or too like a pick."""
    picks = select_mmr(
        [result.score for result in results], lambda i: token_set(enriched_passage(results[i])), k=k, weight=weight
    )
    chosen = {index for index, _ in picks}
    drops = [
        Drop(chunk_id=result.chunk_id, stage=STAGE, reason="not_diverse" if place < k else "over_top_k")
        for place, result in enumerate(results)
        if place not in chosen
    ]
    return [results[index] for index, _ in picks], drops
