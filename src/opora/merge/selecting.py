"""Step 1: what the merge starts from. An empty ranking stays empty: it means that nothing was good enough."""

from __future__ import annotations

from collections.abc import Sequence

from opora.domain.search import SearchResult
from opora.domain.trace import Drop
from opora.merge.order import in_order
from opora.merge.state import dropped


def selected(
    ranked: Sequence[SearchResult] | None, found: Sequence[SearchResult], *, top_k: int
) -> tuple[list[SearchResult], list[Drop]]:
    """The ranked results; where ranking did not run (None), the best ``top_k`` found."""
    if ranked is not None:
        return list(ranked), []
    ordered = in_order(found)
    return ordered[:top_k], [dropped(result.chunk_id, "over_top_k") for result in ordered[top_k:]]
