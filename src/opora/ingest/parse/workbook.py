"""Reads workbooks of other programs and older versions (ODS, XLS): each sheet's rows as table blocks."""

from __future__ import annotations

import io
from collections.abc import Iterator

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import Block, ParsedDocument, ParseReason
from opora.ingest.archive import CappedArchive
from opora.ingest.limits import ParseLimits
from opora.ingest.parse.rows import Row, cell_text, table_blocks


def parse_ods(data: bytes, file_name: str, limits: ParseLimits) -> ParsedDocument:
    return _read(CappedArchive(data, limits).repack(lambda name: not name.startswith("Pictures/")), "ods", limits)


def parse_xls(data: bytes, file_name: str, limits: ParseLimits) -> ParsedDocument:
    return _read(io.BytesIO(data), "xls", limits)


def _read(packed: io.BytesIO, kind: str, limits: ParseLimits) -> ParsedDocument:
    import python_calamine

    blocks: list[Block] = []
    left = limits.cells
    try:
        with python_calamine.CalamineWorkbook.from_filelike(packed) as workbook:
            names = list(workbook.sheet_names)
            for name in names:
                sheet = workbook.get_sheet_by_name(name)
                if sheet.total_height * sheet.total_width > limits.cells * 10:
                    raise _too_many(limits.cells)
                rows: list[Row] = []
                for number, values in enumerate(sheet.iter_rows(), start=1):
                    texts = [cell_text(value) for value in values]
                    left -= sum(map(bool, texts))
                    if left < 0:
                        raise _too_many(limits.cells)
                    rows.append((number, texts))
                blocks.extend(table_blocks(_each(rows), expected_rows=sheet.total_height, sheet=name))
    except (python_calamine.CalamineError, ValueError, OverflowError) as error:
        raise ParseFailed(
            ParseReason.DAMAGED,
            "The workbook is damaged and cannot be read.",
            hint="Open it in the program that made it, save it as XLSX and upload the new file.",
        ) from error
    return ParsedDocument(blocks=tuple(blocks), file_type=kind, metadata={"sheets": names})


def _each(rows: list[Row]) -> Iterator[Row]:
    return iter(rows)


def _too_many(most: int) -> ParseFailed:
    return ParseFailed(
        ParseReason.SIZE_LIMIT,
        f"The workbook has more than {most} cells.",
        hint="Split it into smaller workbooks, or export the sheets you need as CSV.",
    )
