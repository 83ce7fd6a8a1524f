"""Tier two: cuts between the sentences of a stretch that its structure leaves too long."""

from __future__ import annotations

from opora.domain.knowledge import BlockKind
from opora.ingest.split.cuts import Boundaries, boundaries
from opora.ingest.split.stretch import Room, Stretch
from opora.text.sentences import sentence_spans

_NO_SENTENCES = frozenset({BlockKind.CODE, BlockKind.FORMULA, BlockKind.HEADING})


def marks(stretch: Stretch, begin: int, end: int, _room: Room) -> Boundaries:
    positions: list[int] = []
    for part in stretch.parts_in(begin, end):
        if part.block.kind in _NO_SENTENCES:
            continue
        low, high = max(begin, part.begin), min(end, part.end)
        starts = [low + start for start, _ in sentence_spans(stretch.text[low:high])[1:]]
        positions += [start for start in starts if not stretch.is_shielded(start)]
    return boundaries(stretch.text, positions, begin)
