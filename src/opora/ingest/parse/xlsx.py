"""Reads workbooks: each sheet's rows as table blocks that cite sheet and row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import Block, ParsedDocument, ParseReason
from opora.ingest.archive import CappedArchive
from opora.ingest.limits import ParseLimits
from opora.ingest.parse.rows import Row, cell_text, table_blocks

_WANTED_FOLDERS = ("xl/worksheets/", "xl/_rels/", "_rels/", "docProps/")
_WANTED_PARTS = frozenset({"[Content_Types].xml", "xl/workbook.xml", "xl/sharedStrings.xml", "xl/styles.xml"})


def parse(data: bytes, file_name: str, limits: ParseLimits) -> ParsedDocument:
    import python_calamine

    packed = CappedArchive(data, limits).repack(_is_wanted)
    blocks: list[Block] = []
    cells = _CellCount(limits.cells)
    try:
        with python_calamine.CalamineWorkbook.from_filelike(packed) as workbook:
            names = list(workbook.sheet_names)
            for name in names:
                sheet = workbook.get_sheet_by_name(name)
                rows = _rows(sheet, cells)
                blocks.extend(table_blocks(rows, expected_rows=sheet.total_height, sheet=name))
    except (python_calamine.CalamineError, ValueError, OverflowError) as error:
        raise _damaged() from error
    return ParsedDocument(blocks=tuple(blocks), file_type="xlsx", metadata={"sheets": names})


def _is_wanted(name: str) -> bool:
    plain = name.lstrip("/")
    if plain.startswith("xl/worksheets/") and not plain.endswith((".xml", ".rels")):
        return False
    return plain in _WANTED_PARTS or plain.startswith(_WANTED_FOLDERS) or plain.lower().endswith("sharedstrings.xml")


class _CellCount:
    """Counts filled cells over the whole workbook."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._seen = 0

    def add(self, count: int) -> None:
        self._seen += count
        if self._seen > self._most:
            raise ParseFailed(
                ParseReason.SIZE_LIMIT,
                f"The workbook has more than {self._most} cells.",
                hint="Split it into smaller workbooks, or export the sheets you need as CSV.",
            )


def _rows(sheet: Any, cells: _CellCount) -> Iterator[Row]:
    """Rows with their numbers on the sheet; a cell merged over rows gives its value to each of them."""
    merged = _merged_down(sheet)
    carried: dict[int, str] = {}
    for number, values in enumerate(sheet.iter_rows(), start=1):
        texts = [cell_text(value) for value in values]
        cells.add(sum(1 for text in texts if text))
        for column, first, last in merged.get(number, ()):
            if 0 <= column < len(texts):
                carried[column] = texts[column] if number == first else carried.get(column, "")
                texts[column] = carried[column]
                if number == last:
                    carried.pop(column, None)
        yield number, texts


def _merged_down(sheet: Any) -> dict[int, list[tuple[int, int, int]]]:
    """Row number -> (column, first row, last row) of each merged range that covers it and is more than one row high."""
    by_row: dict[int, list[tuple[int, int, int]]] = {}
    budget = 200_000
    left = sheet.start[1] if sheet.start else 0
    for (first, column), (last, _) in sheet.merged_cell_ranges or ():
        budget -= last - first + 1
        if last <= first or budget < 0:
            continue
        for row in range(first, last + 1):
            by_row.setdefault(row + 1, []).append((column - left, first + 1, last + 1))
    return by_row


def _damaged() -> ParseFailed:
    return ParseFailed(
        ParseReason.DAMAGED,
        "The workbook is damaged and cannot be read.",
        hint="Open it in the program that made it, save it again as XLSX and upload the new file.",
    )
