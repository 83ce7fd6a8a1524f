"""Where a chunk stands in its document: offsets, pages, boxes, headings, sheet and rows."""

from __future__ import annotations

from collections.abc import Sequence

from opora.domain.knowledge import Box, Place
from opora.ingest.split.stretch import Part, Stretch
from opora.ingest.split.table import row_numbers


def place_of(stretch: Stretch, begin: int, end: int) -> Place:
    """The place of ``begin:end`` of a stretch, in offsets of the whole document."""
    first_row, last_row = row_numbers(stretch, begin, end)
    pages: list[int] = []
    boxes: list[Box] = []
    for part in stretch.parts_in(begin, end):
        covered, is_exact = _boxes_of(part, begin, end)
        boxes += covered
        place = part.block.place
        if is_exact:
            pages += [box.page for box in covered]
        else:
            pages += [page for page in (place.page, place.page_end) if page is not None]
    return Place(
        start=stretch.start + begin,
        end=stretch.start + end,
        page=min(pages, default=None),
        page_end=max(pages, default=None),
        boxes=tuple(boxes),
        heading_path=stretch.path,
        sheet=stretch.sheet,
        row=first_row,
        row_end=last_row,
    )


def joined_place(places: Sequence[Place]) -> Place:
    """One place over neighbouring ones: from the first start to the last end, under the headings that all share."""
    pages = [page for place in places for page in (place.page, place.page_end) if page is not None]
    is_one_sheet = len({place.sheet for place in places}) == 1
    rows = [row for place in places for row in (place.row, place.row_end) if row is not None and is_one_sheet]
    return Place(
        start=places[0].start,
        end=places[-1].end,
        page=min(pages, default=None),
        page_end=max(pages, default=None),
        boxes=tuple(box for place in places for box in place.boxes),
        heading_path=shared_path([place.heading_path for place in places]),
        sheet=places[0].sheet if is_one_sheet else "",
        row=min(rows, default=None),
        row_end=max(rows, default=None),
    )


def shared_path(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The names that all paths begin with."""
    shared: list[str] = []
    for names in zip(*paths, strict=False):
        if len(set(names)) > 1:
            break
        shared.append(names[0])
    return tuple(shared)


def _boxes_of(part: Part, begin: int, end: int) -> tuple[tuple[Box, ...], bool]:
    """Boxes of the lines covered where there is one box a line; else all boxes of the block, and not exact."""
    boxes, text = part.block.place.boxes, part.block.text
    if len(boxes) < 2 or part.block.text.count("\n") + 1 != len(boxes):
        return boxes, False
    low, high = max(begin, part.begin) - part.begin, min(end, part.end) - part.begin
    first = text.count("\n", 0, low)
    return boxes[first : first + text.count("\n", low, high) + 1], True
