"""A stretch made into pieces: what each shows, where it stands and what stands over it."""

from __future__ import annotations

from dataclasses import dataclass

from opora.domain.knowledge import Place
from opora.ingest.split.config import Limits
from opora.ingest.split.overlap import overlap_start
from opora.ingest.split.place import place_of
from opora.ingest.split.protect import Span, is_balanced
from opora.ingest.split.stretch import Stretch
from opora.ingest.split.tiers import cut

_TITLE_LENGTH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """``begin`` and ``end`` are its own in its stretch, overlap left out; ``over`` names what stands over it."""

    begin: int
    end: int
    content: str
    over: tuple[str, ...]
    place: Place
    is_cut_code: bool = False

    @property
    def context(self) -> str:
        return " > ".join(self.over)


def pieces_of(stretch: Stretch, limits: Limits, within: Span | None = None) -> list[Piece]:
    """The pieces of a stretch, or of a part of it, in order; blank ones are left out."""
    begin, end = within or (0, len(stretch.text))
    found: list[Piece] = []
    before: Span | None = None
    for left, right in cut(stretch, begin, end, limits):
        first, last = stretch.trim(left, right)
        if first >= last:
            continue
        found.append(_piece(stretch, (left, first, last, right), before, limits))
        before = (first, last)
    return found


def _piece(stretch: Stretch, span: tuple[int, int, int, int], before: Span | None, limits: Limits) -> Piece:
    left, begin, end, right = span
    shown, content = begin, ""
    if stretch.overlaps:
        if before is not None:
            room = min(limits.overlap, limits.size - (end - begin))
            shown = overlap_start(stretch, before[0], begin, room)
        if shown == begin:
            shown = _indented(stretch, left, begin, end, limits.size)
        content = stretch.text[shown:end]
    else:
        frame = stretch.frame(limits.size)
        opening = frame.opening if left > 0 else ""
        closing = frame.closing if right < len(stretch.text) else ""
        shown = _indented(stretch, left, begin, end, limits.size - len(opening) - len(closing))
        content = f"{opening}{stretch.text[shown:end]}{closing}"
    is_part_of_code = stretch.is_cut_code and (left > 0 or right < len(stretch.text))
    return Piece(
        begin=left,
        end=right,
        content=content,
        over=_names_over(stretch, starts_it=left == 0),
        place=place_of(stretch, shown, end),
        is_cut_code=is_part_of_code or not is_balanced(content),
    )


def _indented(stretch: Stretch, left: int, begin: int, end: int, most: int) -> int:
    """The start with its line's indentation, where that still fits."""
    start = stretch.line_start(left, begin)
    return start if end - start <= most else begin


def _names_over(stretch: Stretch, *, starts_it: bool) -> tuple[str, ...]:
    """The sheet and the headings over a piece; headings that stand in the piece itself are left out."""
    path = stretch.path
    if starts_it and stretch.headings:
        path = path[: max(0, len(path) - stretch.headings)]
    names = (stretch.sheet, *path) if stretch.sheet and stretch.sheet not in path else path
    return tuple(name if len(name) <= _TITLE_LENGTH else f"{name[:_TITLE_LENGTH]}…" for name in names)
