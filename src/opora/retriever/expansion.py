"""Adds the pieces that stand beside what was found, where each is close in meaning to the one before it in its chain.

A chain begins at a piece that was found and grows at either end by the closer of the two pieces that stand next to
it. It has at most three links, the found one included. Pure, and the same whatever the order of reading.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np

from opora.domain.context import NEIGHBOUR, ContextResult
from opora.domain.search import ScoreKind
from opora.ports import Vectors

MAX_LINKS = 3
REACH = MAX_LINKS - 1
"""How far from a found piece its chain can come."""
MIN_SIMILARITY = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """A piece that a chain may grow by: at which end, and how close it is to the link there."""

    similarity: float
    direction: int
    link: ContextResult
    piece: ContextResult


def expanded(
    found: Sequence[ContextResult], pieces: Mapping[str, ContextResult], vectors: Mapping[str, Vectors]
) -> list[ContextResult]:
    """What was found in its order, each piece followed by its neighbours in the order in which its chain grew.

    A neighbour's score is its similarity to the link before it. A piece that is in the answer already, found itself or
    added for a better one, ends a chain at that side: nothing is told twice.
    """
    present = {one.chunk_id for one in found}
    results: list[ContextResult] = []
    for one in found:
        results.append(one)
        for step in _chain(one, pieces, vectors, present):
            present.add(step.piece.chunk_id)
            results.append(_neighbour(step, one))
    return results


def _beside(piece: ContextResult, direction: int, pieces: Mapping[str, ContextResult]) -> ContextResult | None:
    """The piece before (-1) or after (1) in the same document, if it is known; a gap in the numbers ends a chain."""
    there = pieces.get(piece.next_chunk_id if direction > 0 else piece.pre_chunk_id)
    if there is None or there.document_id != piece.document_id or there.base_id != piece.base_id:
        return None
    return there if there.chunk_index == piece.chunk_index + direction else None


def _chain(
    found: ContextResult,
    pieces: Mapping[str, ContextResult],
    vectors: Mapping[str, Vectors],
    present: Set[str],
) -> list[_Step]:
    ends = {-1: found, 1: found}
    steps: list[_Step] = []
    while len(steps) < REACH:
        options = [
            step for direction, link in ends.items() if (step := _step(link, direction, pieces, vectors, present))
        ]
        if not options:
            break
        best = max(options, key=lambda step: (step.similarity, step.direction))
        ends[best.direction] = best.piece
        steps.append(best)
    return steps


def _step(
    link: ContextResult,
    direction: int,
    pieces: Mapping[str, ContextResult],
    vectors: Mapping[str, Vectors],
    present: Set[str],
) -> _Step | None:
    piece = _beside(link, direction, pieces)
    if piece is None or piece.chunk_id in present:
        return None
    similarity = cosine(vectors.get(link.chunk_id), vectors.get(piece.chunk_id))
    if similarity is None or similarity < MIN_SIMILARITY:
        return None
    return _Step(similarity=similarity, direction=direction, link=link, piece=piece)


def cosine(left: Vectors | None, right: Vectors | None) -> float | None:
    """None where a vector is missing or the two are of different models."""
    if left is None or right is None or left.shape != right.shape:
        return None
    a, b = left.astype(np.float64), right.astype(np.float64)
    length = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return min(1.0, max(-1.0, float((a * b).sum()) / length)) if length > 0 else None


def _neighbour(step: _Step, found: ContextResult) -> ContextResult:
    return replace(
        step.piece,
        score=step.similarity,
        kind=ScoreKind.NEIGHBOUR,
        scores={NEIGHBOUR: step.similarity},
        ranks={},
        neighbour_of=found.chunk_id,
        linked_to=step.link.chunk_id,
    )
