"""Raises for FAQ entries, wiki pages and documents that somebody used before. None is capped: order is what counts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from opora.domain.knowledge import ChunkType
from opora.domain.search import SearchResult
from opora.rank.images import KEPT_BY
from opora.rank.rerank import STAGE

FAQ_SCORE_BOOST = 1.2
WIKI_BOOST = 1.3
AFFINITY_MIN_USES = 2
AFFINITY_STEP = 0.05
AFFINITY_MAX = 1.15
FAQ_BOOSTED = "faq_boosted"
WIKI_BOOSTED = "wiki_boosted"
MEMORY_AFFINITY = "memory_affinity"


def faq_boosted(results: Iterable[SearchResult], *, enabled: bool, boost: float) -> list[SearchResult]:
    """FAQ scores times ``boost``, marked. A cap at 1 would make all good entries equal, so there is none."""
    if not enabled or boost <= 1.0:
        return list(results)
    return [
        replace(result, score=result.score * boost, metadata={**result.metadata, FAQ_BOOSTED: True})
        if result.chunk_type is ChunkType.FAQ
        else result
        for result in results
    ]


def affinity_factor(uses: int) -> float:
    """1 below 2 uses, then 1 + 0.05 x log2(uses), at most 1.15: it settles near ties and no more."""
    if uses < AFFINITY_MIN_USES:
        return 1.0
    return min(AFFINITY_MAX, 1.0 + AFFINITY_STEP * math.log2(uses))


def memory_affinity(results: Iterable[SearchResult], uses: Mapping[str, int]) -> list[SearchResult]:
    """Weigh results by how often the caller's earlier answers cited their document (by id), then sort them again."""
    before = list(results)
    factors = {document_id: affinity_factor(count) for document_id, count in uses.items()}
    if not any(factors.get(result.document_id, 1.0) > 1.0 for result in before):
        return before
    return placed(_raised(result, factors.get(result.document_id, 1.0), MEMORY_AFFINITY) for result in before)


def wiki_boosted(results: Iterable[SearchResult], *, enabled: bool) -> list[SearchResult]:
    """Wiki pages times 1.3 where a searched base has a wiki, then sort again, ties as they stood."""
    before = list(results)
    if not enabled or not has_wiki_page(before):
        return before
    return placed(_raised(r, WIKI_BOOST, WIKI_BOOSTED) if r.chunk_type is ChunkType.WIKI_PAGE else r for r in before)


def has_wiki_page(results: Iterable[SearchResult]) -> bool:
    return any(result.chunk_type is ChunkType.WIKI_PAGE for result in results)


def resorted(results: Iterable[SearchResult]) -> list[SearchResult]:
    """By score, best first; equal scores keep their order."""
    return sorted(results, key=lambda result: -result.score)


def placed(results: Iterable[SearchResult]) -> list[SearchResult]:
    """Sorted again and numbered anew; pictures that were kept beyond the count stay after all others."""
    ordered = sorted(results, key=lambda result: (KEPT_BY in result.metadata, -result.score))
    return [replace(result, ranks={**result.ranks, STAGE: place}) for place, result in enumerate(ordered, 1)]


def _raised(result: SearchResult, factor: float, mark: str) -> SearchResult:
    """A score times ``factor``, which is marked; a score below 0 would sink by it and stays."""
    if factor == 1.0 or result.score <= 0.0:
        return result
    return replace(result, score=result.score * factor, metadata={**result.metadata, mark: factor})
