"""From ranked chunks to passages, in eight steps; one batched read, the rest pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from opora.domain.search import SearchResult
from opora.domain.settings import Effective
from opora.domain.trace import Stage
from opora.merge.duplicates import without_duplicates, without_near_duplicates
from opora.merge.faq_answers import with_answers
from opora.merge.grouping import grouped
from opora.merge.history import with_history
from opora.merge.neighbours import with_neighbours
from opora.merge.order import in_order
from opora.merge.parents import with_parents
from opora.merge.piece import Piece
from opora.merge.reading import ReadChunks, read_all
from opora.merge.selecting import selected
from opora.merge.state import STAGE, Merging, Sources

Step = Callable[[Merging, Sources], Merging]


def _merged_again(state: Merging, sources: Sources) -> Merging:
    """Step 8: what widening made alike is joined once more, then doubles and near doubles go."""
    return without_near_duplicates(without_duplicates(grouped(state, sources), sources), sources)


STEPS: tuple[tuple[str, Step], ...] = (
    ("deduplicate", without_duplicates),
    ("history", with_history),
    ("parents", with_parents),
    ("join", grouped),
    ("faq_answers", with_answers),
    ("neighbours", with_neighbours),
    ("final", _merged_again),
)
"""Steps 2 to 8 in their order; step 1, `selected`, says what they start from."""


async def merge(
    ranked: Sequence[SearchResult] | None,
    found: Sequence[SearchResult],
    *,
    query: str,
    read: ReadChunks,
    asked: str = "",
    history_references: Sequence[SearchResult] = (),
    settings: Effective | None = None,
) -> Stage:
    """Passages, best first. ``ranked`` is None where ranking did not run, and empty where it kept nothing.

    ``history_references`` are those of the last round that has any; ``read`` is `opora.merge.reading.chunk_reader`.
    """
    values = (settings or Effective()).values
    results, drops = selected(ranked, found, top_k=values.rerank_top_k)
    chunks = await read_all(results, history_references, read)
    sources = Sources(query=query, asked=asked, references=tuple(history_references), chunks=chunks)
    state = merge_pieces(Merging(pieces=tuple(Piece.of(r) for r in results), drops=tuple(drops)), sources)
    merged = in_order(piece.result for piece in state.pieces)
    ranks = [replace(result, ranks={**result.ranks, STAGE: place}) for place, result in enumerate(merged, start=1)]
    return Stage(results=tuple(ranks), drops=state.drops)


def merge_pieces(state: Merging, sources: Sources) -> Merging:
    """All steps after the first, in the order of the table."""
    for _, step in STEPS:
        state = step(state, sources)
    return state
