"""Tier three: text without sentences, cut at line ends, clauses or words, and where it has none, between graphemes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opora.ingest.split.cuts import WEAKER, strength
from opora.ingest.split.protect import Span, covering
from opora.ingest.split.stretch import Room, Stretch
from opora.text.graphemes import safe_cut

_EDGE = re.compile(r"(?P<line>\s*\n\s*)|(?P<clause>(?:[,;:]\s|[，、：；]|\s[—–-]\s)\s*)|(?P<word>\s+)")
_RANK = {"line": 0, "clause": WEAKER, "word": 2 * WEAKER}
_LEAST_SHARE = 2
_TAIL_SHARE = 5


def cut(stretch: Stretch, begin: int, end: int, room: Room) -> Iterator[Span]:
    """Pieces from the left, each ending at the strongest edge in the second half of its room."""
    at, most = begin, room.first
    start, last = stretch.trim(begin, end)
    while last - start > most:
        here = _next_cut(stretch, start, last, most)
        here = stretch.trim(here, end)[0] if here < last else end
        yield at, here
        at = start = here
        most = room.rest
    if at < end:
        yield at, end


def _next_cut(stretch: Stretch, start: int, last: int, most: int) -> int:
    half = start + most // _LEAST_SHARE
    # What is left for the last piece is at least a fifth of the room, so that it is no crumb.
    found = _strongest_edge(stretch, start, half, max(half, min(start + most, last - most // _TAIL_SHARE)))
    if found is not None:
        return found
    high = start + most
    shield = covering(stretch.shields, high)
    if shield is not None:
        return shield[0] if shield[0] > start else shield[1]
    here = safe_cut(stretch.text, high, anchor=start)
    return here if here > start else high


def _strongest_edge(stretch: Stretch, start: int, low: int, high: int) -> int | None:
    best: tuple[int, int] | None = None
    before = start
    for match in _EDGE.finditer(stretch.text, low, high):
        here = match.end()
        if match.lastgroup is None or here >= high or stretch.is_shielded(here):
            continue
        candidate = (_RANK[match.lastgroup] + strength(stretch.text, before, here), here)
        before = here
        if best is None or candidate < best:
            best = candidate
    return best[1] if best else None
