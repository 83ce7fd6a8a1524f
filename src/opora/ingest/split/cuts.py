"""Content-defined cutting: which of the allowed boundaries become cuts depends on the text beside them only.

A stretch that is too long is cut at its strongest boundary, and each side again, until all fit. A boundary's strength
is a hash of the text that ends there, so it moves with the text: after an edit the same boundaries win as before,
but for those beside the edit, and the chunks further on keep their ids. Packing from the left, in contrast, shifts
every later cut.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from zlib import crc32

_HASHED = 64
_SPREAD = 0x9E3779B1  # an odd multiplier: CRCs of texts that differ little differ little in their high bits
_LEAST_PART = 0.35
"""Of what fits: a cut nearer to an end is taken only where no other is left. Chosen by `benchmarks.edits` on xquad."""

WEAKER = 1 << 24
"""Above every hash. Added to a strength: such a boundary is taken only where no stronger kind is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundaries:
    """Where a tier allows cuts: rising positions, and for each a strength; the lowest number is the strongest."""

    positions: list[int]
    strengths: list[int]


def strength(text: str, begin: int, end: int) -> int:
    """A number from the text that ends at ``end``: its last characters, blanks at its end left out."""
    ending = text[max(begin, end - _HASHED) : end].rstrip()
    return (crc32(ending.encode("utf-8", "surrogatepass")) * _SPREAD >> 7) % WEAKER


def boundaries(text: str, marks: Iterable[int], begin: int = 0) -> Boundaries:
    """Boundaries at ``marks`` (rising), each as strong as the text between it and the mark before it says."""
    positions: list[int] = []
    strengths: list[int] = []
    for mark in marks:
        positions.append(mark)
        strengths.append(strength(text, begin, mark))
        begin = mark
    return Boundaries(positions=positions, strengths=strengths)


def divide(
    begin: int, end: int, allowed: Boundaries, *, own: int, fits: Callable[[int, int], bool]
) -> Iterator[tuple[int, int]]:
    """Pieces of ``begin:end`` in order, cut at ``allowed`` boundaries only; one without any left may be too long."""
    least = int(own * _LEAST_PART)
    waiting = [(begin, end)]
    while waiting:
        left, right = waiting.pop()
        cut = None if fits(left, right) else _strongest(left, right, allowed, own=own, least=least)
        if cut is None:
            yield left, right
        else:
            waiting += [(cut, right), (left, cut)]


def _strongest(left: int, right: int, allowed: Boundaries, *, own: int, least: int) -> int | None:
    """The strongest boundary inside, if it can be one that leaves both sides long and short enough."""
    positions = allowed.positions
    ranges = [(left + least, right - least), (left + 1, right - 1)]
    if right - left <= 2 * own:
        ranges.insert(0, (max(left + least, right - own), min(right - least, left + own)))
    for low, high in ranges:
        first, last = bisect_left(positions, low), bisect_right(positions, high)
        if first < last:
            return _strongest_of(allowed, first, last, middle=(left + right) // 2)
    return None


def _strongest_of(allowed: Boundaries, first: int, last: int, *, middle: int) -> int:
    """Of equally strong ones, as in text that repeats itself, the one nearest the middle."""
    among = allowed.strengths[first:last]
    strongest = min(among)
    if among.count(strongest) == 1:
        return allowed.positions[first + among.index(strongest)]
    equal = [place for place, power in zip(allowed.positions[first:last], among, strict=True) if power == strongest]
    return min(equal, key=lambda place: (abs(place - middle), place))
