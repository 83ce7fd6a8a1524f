"""A stretch: a part of a document that is cut by one rule, with what its cutters need to know."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from opora.domain.knowledge import Block, BlockKind
from opora.ingest.split.config import Limits
from opora.ingest.split.protect import Span, covering

_NOT_BLANK = re.compile(r"\S")
_STEP = 256
_FRAME_SHARE = 2
"""What is repeated around each piece takes at most one part in so many of the room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One block inside a stretch."""

    begin: int
    end: int
    block: Block


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What is repeated around the pieces of a table or of cut code: its head before all but the first, its close."""

    opening: str = ""
    closing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How many characters of its own a piece may have: the first of a range, which overlaps nothing, and the rest."""

    first: int
    rest: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Offsets inside are relative to ``text``, which begins at ``start`` in the whole document."""

    text: str
    start: int
    parts: tuple[Part, ...]
    begins: list[int]
    """Where each part begins."""
    path: tuple[str, ...] = ()
    headings: int = 0
    """How many of the path's last headings stand in ``text`` itself, at its beginning."""
    shields: list[Span]
    """What is not cut: rising, without overlap, none longer than the cap."""
    overlaps: bool = False
    rows: list[int] = field(default_factory=list)
    """Where each row of a table begins; the head is none of them."""
    fence: Frame = field(default_factory=Frame)
    """The lines that open and close the fence of code that is cut."""

    @property
    def sheet(self) -> str:
        return self.parts[0].block.place.sheet

    @property
    def last_kind(self) -> BlockKind:
        return self.parts[-1].block.kind

    @property
    def is_cut_code(self) -> bool:
        return not self.overlaps and not self.rows

    def frame(self, size: int) -> Frame:
        """What is repeated, shortened (a head) or left out (a fence) where it would leave the text too little room."""
        most = size // _FRAME_SHARE
        head = self.parts[-1].block.head
        if self.rows and head:
            return Frame(opening=f"{_first_cells(head, most - 1)}\n" if most > 1 else "")
        if len(self.fence.opening) + len(self.fence.closing) > most:
            return Frame()
        return self.fence

    def room(self, limits: Limits) -> Room:
        if self.overlaps:
            return Room(first=limits.size, rest=limits.own)
        frame = self.frame(limits.size)
        after = limits.size - len(frame.closing)
        return Room(first=after, rest=after - len(frame.opening))

    def parts_in(self, begin: int, end: int) -> Sequence[Part]:
        first = max(0, bisect_right(self.begins, begin) - 1)
        if self.parts[first].end <= begin:
            first += 1
        return self.parts[first : bisect_left(self.begins, end)]

    def rows_in(self, begin: int, end: int) -> tuple[int, int]:
        """Indexes of the first and the last row touched; a piece of the head alone counts as its first row."""
        first = max(0, bisect_right(self.rows, begin) - 1)
        return first, max(first, bisect_left(self.rows, end) - 1)

    def trim(self, begin: int, end: int) -> Span:
        """Without the blanks at both ends; empty where there is nothing else."""
        found = _NOT_BLANK.search(self.text, begin, end)
        if found is None:
            return begin, begin
        while (kept := len(self.text[max(begin, end - _STEP) : end].rstrip())) < min(_STEP, end - begin):
            end = max(begin, end - _STEP) + kept
        return found.start(), end

    def line_start(self, begin: int, first: int) -> int:
        """Where the indentation of ``first`` begins, if only blanks stand between it and its line's start."""
        line = self.text.rfind("\n", begin, first) + 1
        if line > 0:
            return line
        return begin if begin == 0 or self.text[begin - 1] == "\n" else first

    def is_shielded(self, position: int) -> bool:
        return covering(self.shields, position) is not None

    def is_whole(self, begin: int, end: int) -> bool:
        """Whether ``begin:end`` lies in one thing that is not to be cut."""
        index = bisect_right(self.shields, begin, key=lambda shield: shield[0]) - 1
        return index >= 0 and end <= self.shields[index][1]


def _first_cells(head: str, most: int) -> str:
    if len(head) <= most:
        return head
    kept = head[:most]
    edge = max(kept.rfind("|"), kept.rfind("\t"), kept.rfind(" "))
    return (kept[:edge] if edge > 0 else kept).rstrip()
