"""The total order of results: score, then where they stand, then id, so that equal scores never change places."""

from __future__ import annotations

from collections.abc import Iterable

from opora.domain.search import SearchResult

OrderKey = tuple[float, str, str, int, str]


def order_key(result: SearchResult) -> OrderKey:
    """Score descending, then document, chunk type, chunk index and chunk id."""
    return (-result.score, result.document_id, result.chunk_type.value, result.chunk_index, result.chunk_id)


def in_order(results: Iterable[SearchResult]) -> list[SearchResult]:
    return sorted(results, key=order_key)
