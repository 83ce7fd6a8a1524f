"""Turns rows of cells into table blocks whose rows can be cut apart, found and cited one by one."""

from __future__ import annotations

import datetime
import zlib
from collections.abc import Iterable, Iterator, Sequence

from opora.domain.knowledge import Block, BlockKind, Place

CELL_JOIN = " | "
BLOCK_CHARS = 65_536
"""A block ends at the latest when its rows hold this many characters."""
BLOCK_CUT = 256
"""One row in this many, chosen by its content, ends a block: an inserted row moves no later cut."""
DESCRIBED_CHARS = 4_000_000
"""Column names are written into each row as long as that adds no more characters than this to a table."""

Row = tuple[int, Sequence[str]]
"""The number of a row, from 1, and its cells."""


def table_blocks(rows: Iterator[Row], *, expected_rows: int, sheet: str = "") -> Iterator[Block]:
    """Blocks of one table. The first row with more than one cell is its head, single cells before it are its title.

    In tables of usual size each row names its columns (``Город: Казань | Суточные: 700``), so that a row alone can
    be understood; in huge ones the names stand in `Block.head` only.
    """
    pending: list[Row] = []
    for row in rows:
        filled = [cell for cell in row[1] if cell]
        if not filled:
            continue
        if len(filled) == 1 and len(row[1]) > 1:
            pending.append(row)
            if len(pending) <= 5:
                continue
        else:
            pending.append(row)
        break
    if not pending:
        return
    *titles, head = pending
    if len([cell for cell in head[1] if cell]) == 1 and len(head[1]) > 1:
        titles, head = [], pending[0]
        yield from _pieces(_chain(pending, rows), "", None, sheet)
        return
    for number, cells in titles:
        place = Place(sheet=sheet, row=number, row_end=number)
        yield Block(kind=BlockKind.PARAGRAPH, text=" ".join(cell for cell in cells if cell), place=place)
    yield from _with_head(head, rows, expected_rows, sheet)


def _with_head(head: Row, rows: Iterator[Row], expected_rows: int, sheet: str) -> Iterator[Block]:
    first = next((row for row in rows if any(row[1])), None)
    if first is None or not is_head(head[1]):
        yield from _pieces(_chain([head] if first is None else [head, first], rows), "", None, sheet)
        return
    names = [cell.rstrip(" :") for cell in head[1]]
    described = expected_rows * sum(len(name) + 2 for name in names) <= DESCRIBED_CHARS
    rest = _chain([first], rows)
    if described:
        yield from _pieces(rest, "", names, sheet)
    else:
        yield from _pieces(rest, CELL_JOIN.join(head[1]), None, sheet)


def is_head(cells: Sequence[str]) -> bool:
    """Names of columns are words: none is a number or a date."""
    return not any(_is_value(cell) for cell in cells if cell)


def cell_text(value: object) -> str:
    """One line of text for a cell: whole numbers without '.0', dates in ISO form."""
    if value is None:
        return ""
    if isinstance(value, str):
        return " ".join(value.split()) if not value.isalnum() else value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else format(value, ".15g")
    if isinstance(value, datetime.datetime):
        if value.time() == datetime.time():
            return value.date().isoformat()
        return value.isoformat(sep=" ", timespec="seconds").removesuffix(":00")
    return str(value)


def row_text(cells: Sequence[str], names: Sequence[str] | None) -> str:
    """The text of a row; empty cells are left out where the columns are named, and else at its end only."""
    if names is None:
        filled = max((index for index, cell in enumerate(cells, start=1) if cell), default=0)
        return CELL_JOIN.join(cells[:filled])
    named = [
        f"{names[index]}: {cell}" if index < len(names) and names[index] else cell
        for index, cell in enumerate(cells)
        if cell
    ]
    return CELL_JOIN.join(named)


def table_block(head: str, rows: Sequence[str], place: Place) -> Block:
    lines = [head, *rows] if head else list(rows)
    return Block(kind=BlockKind.TABLE, text="\n".join(lines), head=head, rows=tuple(rows), place=place)


def _pieces(rows: Iterable[Row], head: str, names: Sequence[str] | None, sheet: str) -> Iterator[Block]:
    """Blocks of rows whose numbers have no gap, so that a row's number follows from its place in the block."""
    texts: list[str] = []
    first = last = size = 0
    for number, cells in rows:
        if not any(cells):
            continue
        if texts and number != last + 1:
            yield table_block(head, texts, Place(sheet=sheet, row=first, row_end=last))
            texts = []
        if not texts:
            first, size = number, 0
        text = row_text(cells, names)
        texts.append(text)
        last = number
        size += len(text)
        if size >= BLOCK_CHARS or zlib.crc32(text.encode("utf-8", "ignore")) % BLOCK_CUT == 0:
            yield table_block(head, texts, Place(sheet=sheet, row=first, row_end=last))
            texts = []
    if texts:
        yield table_block(head, texts, Place(sheet=sheet, row=first, row_end=last))


def _chain(before: Iterable[Row], rest: Iterator[Row]) -> Iterator[Row]:
    yield from before
    yield from rest


def _is_value(cell: str) -> bool:
    plain = cell.replace(" ", "").replace("\u00a0", "").strip("%₽$€-+")
    return bool(plain) and all(char.isdigit() or char in ".,:/-" for char in plain)
