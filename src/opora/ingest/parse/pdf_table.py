"""Finds tables among the lines of a PDF page: neighbouring lines whose cells stand under each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opora.domain.knowledge import Box, Place
from opora.ingest.parse.pdf_layout import Line
from opora.ingest.parse.rows import CELL_JOIN

MIN_ROWS = 2
ROW_STEP = 3.5
"""Rows further apart than this many sizes of their letters belong to different tables."""
WRAP_STEP = 1.7
"""The second line of a cell stands at most this many sizes of its letters under the first."""
_SHORT_MARK = 3


@dataclass(slots=True, kw_only=True)
class Table:
    """Lines from ``begin`` up to ``end`` as rows of cells."""

    begin: int
    end: int
    rows: list[list[str]]
    wrapped: bool

    def texts(self) -> list[str]:
        return [CELL_JOIN.join(row) for row in self.rows]

    def place(self, lines: Sequence[Line], path: tuple[str, ...]) -> Place:
        """One box a line; where each begins is known when no cell takes more than one line."""
        mine = lines[self.begin : self.end]
        starts, at = [], 0
        for text in self.texts():
            starts.append(at)
            at += len(text) + 1
        return Place(
            heading_path=path,
            page=mine[0].page,
            page_end=mine[-1].page,
            boxes=tuple(box_of(line) for line in mine),
            box_starts=() if self.wrapped else tuple(starts),
        )


def box_of(line: Line) -> Box:
    return Box(page=line.page, x0=line.box[0], y0=line.box[1], x1=line.box[2], y1=line.box[3])


def find_tables(lines: Sequence[Line]) -> list[Table]:
    """Tables of a flow, top to bottom."""
    found: list[Table] = []
    index = 0
    while index < len(lines):
        table = _table_at(lines, index)
        if table is None:
            index += 1
            continue
        found.append(table)
        index = table.end
    return found


def _table_at(lines: Sequence[Line], begin: int) -> Table | None:
    if not _is_row(lines[begin]):
        return None
    columns = [cell.x0 for cell in lines[begin].cells]
    rows = [[cell.text for cell in lines[begin].cells]]
    wrapped = False
    last = lines[begin]
    end = begin + 1
    for index in range(begin + 1, len(lines)):
        line = lines[index]
        if line.upright[1] - last.upright[1] > ROW_STEP * line.size:
            break
        if _is_row(line):
            if not _is_aligned(line, last if len(last.cells) > 1 else lines[begin], columns):
                break
            rows.append([cell.text for cell in line.cells])
            columns = [cell.x0 for cell in line.cells] if len(line.cells) >= len(columns) else columns
        else:
            near = line.upright[1] - last.upright[1] <= WRAP_STEP * line.size
            column = _column_of(line, columns) if near else None
            follows = index + 1 < len(lines) and _is_row(lines[index + 1])
            if column is None or column >= len(rows[-1]) or (column == 0 and not follows):
                break
            rows[-1][column] = f"{rows[-1][column]} {line.text}"
            wrapped = True
        last = line
        end = index + 1
    if len(rows) < MIN_ROWS:
        return None
    return Table(begin=begin, end=end, rows=rows, wrapped=wrapped)


def _is_row(line: Line) -> bool:
    """Several cells, the first of which is not only the mark or number of a list item."""
    return len(line.cells) > 1 and not (len(line.cells) == 2 and len(line.cells[0].text) <= _SHORT_MARK)


def _is_aligned(line: Line, above: Line, columns: Sequence[float]) -> bool:
    """A cell after the first begins, ends or is centred as one above it."""
    near = line.size
    for cell in line.cells[1:]:
        if any(abs(cell.x0 - x) < near for x in columns[1:]):
            return True
        for other in above.cells[1:]:
            if abs(cell.x1 - other.x1) < near or abs(cell.x0 + cell.x1 - other.x0 - other.x1) < 2 * near:
                return True
    return False


def _column_of(line: Line, columns: Sequence[float]) -> int | None:
    if len(line.cells) > 1:
        return None
    for index, x in enumerate(columns):
        if abs(line.upright[0] - x) < line.size * 0.6:
            return index
    return None
