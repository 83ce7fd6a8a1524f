"""Raises for FAQ entries, wiki pages and documents that somebody used before. None is capped: order is what counts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from opora.domain.knowledge import ChunkType
from opora.domain.search import SearchResult

FAQ_SCORE_BOOST = 1.2
WIKI_BOOST = 1.3
AFFINITY_MIN_USES = 2
AFFINITY_STEP = 0.05
AFFINITY_MAX = 1.15
FAQ_BOOSTED = "faq_boosted"


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
    if not any(count >= AFFINITY_MIN_USES for count in uses.values()):
        return list(results)
    return resorted(_times(result, affinity_factor(uses.get(result.document_id, 0))) for result in results)


def wiki_boosted(results: Iterable[SearchResult], *, enabled: bool) -> list[SearchResult]:
    """Wiki pages times 1.3 where a searched base has a wiki, then sort again, ties as they stood."""
    before = list(results)
    if not enabled or not any(result.chunk_type is ChunkType.WIKI_PAGE for result in before):
        return before
    return resorted(_times(r, WIKI_BOOST) if r.chunk_type is ChunkType.WIKI_PAGE else r for r in before)


def resorted(results: Iterable[SearchResult]) -> list[SearchResult]:
    """By score, best first; equal scores keep their order."""
    return sorted(results, key=lambda result: -result.score)


def _times(result: SearchResult, factor: float) -> SearchResult:
    return result if factor == 1.0 else replace(result, score=result.score * factor)
