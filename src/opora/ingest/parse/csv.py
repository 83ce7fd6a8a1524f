"""Reads tables kept as text, whatever character separates their fields."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import ParsedDocument, ParseReason
from opora.ingest.delimiters import find_delimiter, lines_of, read_rows
from opora.ingest.limits import ParseLimits
from opora.ingest.parse.rows import Row, cell_text, table_blocks
from opora.text.decode import decode

SAMPLE_CHARS = 65_536
_NAMES = {"\t": "tab"}


def parse(data: bytes, file_name: str, limits: ParseLimits) -> ParsedDocument:
    decoded = decode(data)
    text = _without_hint_line(decoded.text)
    delimiter = _declared_delimiter(decoded.text) or find_delimiter(text[:SAMPLE_CHARS]) or ","
    rows = _numbered(text, delimiter, first=1 + decoded.text.count("\n", 0, len(decoded.text) - len(text)))
    try:
        blocks = tuple(table_blocks(rows, expected_rows=text.count("\n") + 1))
    except csv.Error as error:
        raise ParseFailed(
            ParseReason.DAMAGED,
            "The table cannot be read: its quotes or fields are broken.",
            hint="Export it again as CSV in UTF-8, or upload it as XLSX.",
        ) from error
    metadata = {"encoding": decoded.encoding, "delimiter": _NAMES.get(delimiter, delimiter)}
    return ParsedDocument(blocks=blocks, file_type="tsv" if delimiter == "\t" else "csv", metadata=metadata)


def _numbered(text: str, delimiter: str, *, first: int) -> Iterator[Row]:
    for number, cells in enumerate(read_rows(lines_of(text), delimiter), start=first):
        yield number, [cell_text(cell) for cell in cells]


def _declared_delimiter(text: str) -> str:
    """Office programs may write ``sep=;`` as the first line."""
    head = text[:6].rstrip("\n")
    return head[4] if len(head) == 5 and head.lower().startswith("sep=") else ""


def _without_hint_line(text: str) -> str:
    return text.split("\n", 1)[-1] if _declared_delimiter(text) else text
