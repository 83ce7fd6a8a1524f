"""Reads tables kept as text, whatever character separates their fields."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import Block, ParsedDocument, ParseReason
from opora.ingest.delimiters import find_delimiter, lines_of, read_rows
from opora.ingest.limits import ParseLimits
from opora.ingest.parse.rows import Row, cell_text, table_blocks
from opora.text.decode import decode

SAMPLE_CHARS = 65_536
MAX_CELL_LINES = 300
"""A cell of more lines than this is taken for a quote that was never closed."""
_NAMES = {"\t": "tab"}


class _QuoteLeftOpen(Exception):
    """A quote that is never closed took in many lines."""


def parse(data: bytes, file_name: str, limits: ParseLimits) -> ParsedDocument:
    decoded = decode(data)
    try:
        blocks, delimiter = _blocks(decoded.text, quoted=True)
    except _QuoteLeftOpen:
        blocks, delimiter = _blocks(decoded.text, quoted=False)
    metadata = {"encoding": decoded.encoding, "delimiter": _NAMES.get(delimiter, delimiter)}
    return ParsedDocument(blocks=blocks, file_type="tsv" if delimiter == "\t" else "csv", metadata=metadata)


def _blocks(whole: str, *, quoted: bool) -> tuple[tuple[Block, ...], str]:
    declared = _declared_delimiter(whole)
    text = whole.split("\n", 1)[-1] if declared else whole
    delimiter = declared or find_delimiter(text[:SAMPLE_CHARS], quoted=quoted) or ","
    rows = _numbered(text, delimiter, first=2 if declared else 1, quoted=quoted)
    try:
        return tuple(table_blocks(rows, expected_rows=text.count("\n") + 1)), delimiter
    except csv.Error as error:
        raise ParseFailed(
            ParseReason.DAMAGED,
            "The table cannot be read: its quotes or fields are broken.",
            hint="Export it again as CSV in UTF-8, or upload it as XLSX.",
        ) from error


def _numbered(text: str, delimiter: str, *, first: int, quoted: bool) -> Iterator[Row]:
    rows = read_rows(lines_of(text), delimiter, quoted=quoted)
    for number, cells in enumerate(rows, start=first):
        if quoted and any(cell.count("\n") > MAX_CELL_LINES for cell in cells):
            raise _QuoteLeftOpen
        yield number, [cell_text(cell) for cell in cells]


def _declared_delimiter(text: str) -> str:
    """Office programs may write ``sep=;`` as the first line."""
    head = text[:6].rstrip("\n")
    return head[4] if len(head) == 5 and head.lower().startswith("sep=") else ""
