"""Finds where a stretch of a passage stands in the text of its document, and on which lines of a page."""

from __future__ import annotations

from collections.abc import Sequence

from opora.cite.quotes import locate
from opora.domain.knowledge import Box, Place

AROUND = 2_000
"""Characters around the passage's place in which its text is looked for with other blanks."""
LINE_SHARE = 0.15
"""A line of a page counts when at least this part of it, or of the stretch, is on it."""


def span_in(text: str, content: str, place: Place, start: int, end: int) -> tuple[int, int] | None:
    """Offsets in ``text`` of ``content[start:end]``: by the passage's place where that still holds, else by the words.

    None when the words do not stand in the text, as with a passage that was edited or that shows an image.
    """
    if text[place.start : place.end] == content:
        return place.start + start, place.start + end
    wanted = content[start:end]
    found = _nearest(wanted, text, place.start + start)
    if found is not None:
        return found, found + len(wanted)
    low = max(0, place.start - AROUND)
    located = locate(wanted, text[low : place.end + AROUND])
    return None if located is None else (low + located.start, low + located.end)


def lines_of(boxes: Sequence[Box], start: float, end: float) -> tuple[Box, ...]:
    """The boxes that hold the part from ``start`` to ``end`` (shares of the passage, 0 to 1).

    Boxes are the passage's lines in reading order; their widths tell about how much of the text each holds.
    """
    total = sum(box.x1 - box.x0 for box in boxes)
    if total <= 0:
        return tuple(boxes)
    held: list[Box] = []
    before = 0.0
    for box in boxes:
        after = before + (box.x1 - box.x0) / total
        shared = min(after, end) - max(before, start)
        if shared > LINE_SHARE * min(after - before, end - start):
            held.append(box)
        before = after
    return tuple(held) or tuple(boxes)


def place_of(place: Place, content: str, span: tuple[int, int], start: int, end: int) -> Place:
    """The place of a stretch: its offsets in the document, and the page, boxes and headings of its passage."""
    size = max(1, len(content))
    boxes = lines_of(place.boxes, start / size, end / size)
    return Place(
        start=span[0],
        end=span[1],
        page=boxes[0].page if boxes else place.page,
        page_end=boxes[-1].page if boxes else place.page_end,
        boxes=boxes,
        heading_path=place.heading_path,
        sheet=place.sheet,
        row=place.row,
        row_end=place.row_end,
    )


def _nearest(wanted: str, text: str, at: int) -> int | None:
    """The place of ``wanted`` nearest to an offset."""
    before = text.rfind(wanted, 0, max(0, at) + len(wanted))
    after = text.find(wanted, max(0, at))
    found = [place for place in (before, after) if place >= 0]
    return min(found, key=lambda place: (abs(place - at), place)) if found else None
