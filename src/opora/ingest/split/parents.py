"""Parents: neighbouring sections joined as far as a parent holds, long ones cut; children are cut inside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise

from opora.domain.knowledge import BLOCK_JOIN
from opora.ingest.split.config import Limits
from opora.ingest.split.cuts import WEAKER, Boundaries, divide, strength
from opora.ingest.split.pieces import Piece, pieces_of
from opora.ingest.split.place import joined_place, shared_path
from opora.ingest.split.stretch import Stretch

_WITHIN_SECTION = 16
"""Rank of a boundary that no heading makes: below every heading level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    parent: Piece
    children: tuple[Piece, ...]


def families(stretches: Iterable[Stretch], parent: Limits, child: Limits) -> Iterator[Family]:
    """Parents in reading order, each with the children cut from exactly its text."""
    cut = [(stretch, piece) for stretch in stretches for piece in pieces_of(stretch, parent)]
    for group in _groups(cut, parent):
        children = [small for stretch, piece in group for small in pieces_of(stretch, child, (piece.begin, piece.end))]
        yield Family(parent=_joined([piece for _, piece in group]), children=tuple(children))


def _groups(cut: list[tuple[Stretch, Piece]], limits: Limits) -> Iterator[list[tuple[Stretch, Piece]]]:
    """Neighbours that fit one parent, parted at the highest headings first and by content among equals."""
    ends = list(accumulate(len(piece.content) + len(BLOCK_JOIN) for _, piece in cut))
    if not ends:
        return
    index_at = {0: 0} | {end: index for index, end in enumerate(ends, start=1)}
    strengths: list[int] = []
    for (_, before), (stretch, piece) in pairwise(cut):
        starts_section = piece.begin == 0 and stretch.headings
        rank = len(stretch.path) - stretch.headings if starts_section else _WITHIN_SECTION
        strengths.append(rank * WEAKER + strength(before.content, 0, len(before.content)))
    allowed = Boundaries(positions=ends[:-1], strengths=strengths)

    def fits(left: int, right: int) -> bool:
        return right - left - len(BLOCK_JOIN) <= limits.size

    for left, right in divide(0, ends[-1], allowed, own=limits.size, fits=fits):
        yield cut[index_at[left] : index_at[right]]


def _joined(pieces: list[Piece]) -> Piece:
    if len(pieces) == 1:
        return pieces[0]
    return Piece(
        begin=pieces[0].begin,
        end=pieces[-1].end,
        content=BLOCK_JOIN.join(piece.content for piece in pieces),
        over=shared_path([piece.over for piece in pieces]),
        place=joined_place([piece.place for piece in pieces]),
        is_cut_code=any(piece.is_cut_code for piece in pieces),
    )
