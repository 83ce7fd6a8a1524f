"""The tiers of cutting in the order they are tried: each takes only what the one before it left too long."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from opora.ingest.split import plain, sentences, structure
from opora.ingest.split.config import Limits
from opora.ingest.split.cuts import Boundaries, divide
from opora.ingest.split.protect import Span
from opora.ingest.split.stretch import Room, Stretch

Cutter = Callable[[Stretch, int, int, Room], Iterable[Span]]


def _at(marks: Callable[[Stretch, int, int, Room], Boundaries]) -> Cutter:
    """A cutter that chooses by content among the boundaries that a tier marks."""

    def cutter(stretch: Stretch, begin: int, end: int, room: Room) -> Iterator[Span]:
        def fits_in_range(left: int, right: int) -> bool:
            return fits(stretch, left, right, room.first if left == begin else room.rest)

        return divide(begin, end, marks(stretch, begin, end, room), own=room.rest, fits=fits_in_range)

    return cutter


TIERS: tuple[tuple[str, Cutter], ...] = (
    ("structure", _at(structure.marks)),
    ("sentences", _at(sentences.marks)),
    ("plain", plain.cut),
)


def cut(stretch: Stretch, begin: int, end: int, limits: Limits) -> list[Span]:
    """``begin:end`` of a stretch as pieces that fit, in order and without a gap."""
    room = stretch.room(limits)
    todo: list[Span] = [(begin, end)]
    for _, cutter in TIERS:
        done: list[Span] = []
        for left, right in todo:
            is_first = left == begin and (stretch.overlaps or left == 0)
            here = room if is_first else Room(first=room.rest, rest=room.rest)
            if fits(stretch, left, right, here.first):
                done.append((left, right))
                continue
            found = list(cutter(stretch, left, right, here))
            done += found if is_sound(stretch, left, right, found) else [(left, right)]
        todo = done
    return todo


def fits(stretch: Stretch, begin: int, end: int, most: int) -> bool:
    """Short enough, or one thing that is not to be cut."""
    if end - begin <= most:
        return True
    first, last = stretch.trim(begin, end)
    return last - first <= most or stretch.is_whole(first, last)


def is_sound(stretch: Stretch, begin: int, end: int, found: list[Span]) -> bool:
    """Whether a tier's pieces may be taken: they cover the text from end to end, and none is empty or blank."""
    at = begin
    for left, right in found:
        if left != at or right <= left or stretch.text[left:right].isspace():
            return False
        at = right
    return at == end
