"""Puts the list by meaning and the list by words together: the sum of 1 / (60 + place), both lists counting the same.

Reciprocal rank fusion (Cormack, Clarke and Buettcher 2009). Only places count: cosines and ranks of words have no
common scale. Pure, and the order is total.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

RRF_K = 60
CANDIDATES = 20
"""How many each list brings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fused:
    """One piece with its place in each list, from 1; 0 where the list lacks it."""

    chunk_id: str
    score: float
    semantic_rank: int = 0
    fulltext_rank: int = 0


def share(rank: int) -> float:
    """What a place is worth; a list that lacks the piece gives nothing."""
    return 1.0 / (RRF_K + rank) if rank else 0.0


def fuse(semantic: Sequence[str], fulltext: Sequence[str]) -> list[Fused]:
    """The union of two lists of ids, best first; equal sums stand in the order of their ids."""
    by_meaning, by_words = _ranks(semantic), _ranks(fulltext)
    fused = [
        Fused(
            chunk_id=chunk_id,
            score=share(by_meaning.get(chunk_id, 0)) + share(by_words.get(chunk_id, 0)),
            semantic_rank=by_meaning.get(chunk_id, 0),
            fulltext_rank=by_words.get(chunk_id, 0),
        )
        for chunk_id in by_meaning.keys() | by_words.keys()
    ]
    return sorted(fused, key=lambda one: (-one.score, one.chunk_id))


def _ranks(ids: Sequence[str]) -> dict[str, int]:
    """A piece that stands twice in a list counts at its better place."""
    ranks: dict[str, int] = {}
    for rank, chunk_id in enumerate(ids, start=1):
        ranks.setdefault(chunk_id, rank)
    return ranks
