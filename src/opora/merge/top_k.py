"""The final cut: a total order and the best few, with what was kept for other reasons after them."""

from __future__ import annotations

from collections.abc import Sequence

from opora.domain.search import SearchResult
from opora.domain.trace import Drop, Stage
from opora.merge.order import in_order

KEPT_BY = "kept_by"
STAGE = "filter_top_k"


def filter_top_k(results: Sequence[SearchResult], top_k: int) -> Stage:
    """Results by score, then document, chunk type, index and id, cut to ``top_k``.

    Results marked ``kept_by`` take none of the places: they follow the cut list.
    """
    ordered = in_order(result for result in results if not result.metadata.get(KEPT_BY))
    extras = in_order(result for result in results if result.metadata.get(KEPT_BY))
    drops = tuple(Drop(chunk_id=result.chunk_id, stage=STAGE, reason="over_top_k") for result in ordered[top_k:])
    return Stage(results=(*ordered[:top_k], *extras), drops=drops)
