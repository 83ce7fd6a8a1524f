"""Reads and writes files of FAQ entries: CSV, XLSX and JSON; what is written can be read again."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from opora.domain.errors import InvalidInput, ParseFailed
from opora.domain.faq_entry import FaqRecord, metadata_of
from opora.domain.knowledge import ParseReason
from opora.ingest.archive import CappedArchive
from opora.ingest.delimiters import find_delimiter, lines_of, read_rows
from opora.ingest.faq_rows import cell_of, field_of
from opora.ingest.limits import ParseLimits
from opora.ports import Numbered
from opora.text.decode import decode

COLUMNS = (
    *("seq_id", "standard_question", "similar_questions", "negative_questions", "answers", "answer_strategy"),
    *("is_enabled", "is_recommended", "tags"),
)
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")
_SAMPLE_CHARS = 65_536


def read_file(data: bytes, file_name: str, limits: ParseLimits) -> list[Numbered]:
    """Raises `InvalidInput` when the file has no column of questions or is none of the formats."""
    kind = file_name.rpartition(".")[2].lower()
    if kind == "json":
        return _json(data)
    if kind == "xlsx" or data[:4] == b"PK\x03\x04":
        return _by_head(_sheet(data, limits))
    if kind in ("csv", "tsv", "txt"):
        return _by_head(_table(data))
    raise InvalidInput.of("file", "Entries are read from CSV, XLSX and JSON files.")


def listed_rows(entries: Sequence[Any]) -> list[Numbered]:
    """Entries of a JSON list, counted from 1; what is no object has no values and is refused with its number."""
    return [(place, item if isinstance(item, dict) else {}) for place, item in enumerate(entries, 1)]


def export_json(records: Iterable[FaqRecord], tags: Mapping[str, str]) -> bytes:
    """``tags`` are names by id: a name means the same in another base."""
    entries = [{"seq_id": record.seq_id, **_values(record, tags)} for record in records]
    return json.dumps({"entries": entries}, ensure_ascii=False, indent=1).encode("utf-8", "replace")


def export_csv(records: Iterable[FaqRecord], tags: Mapping[str, str]) -> bytes:
    """UTF-8 with a byte order mark, which office programs look for. No cell can start a formula."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for record in records:
        values = {"seq_id": record.seq_id, **_values(record, tags)}
        writer.writerow([guarded(_cell(values[name])) for name in COLUMNS])
    return out.getvalue().encode("utf-8-sig", "replace")


def guarded(cell: str) -> str:
    """A cell that a spreadsheet takes for text: an apostrophe stands before what would be a formula."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def unguarded(cell: str) -> str:
    return cell[1:] if _GUARDED.match(cell) else cell


def _values(record: FaqRecord, tags: Mapping[str, str]) -> dict[str, Any]:
    draft = record.draft
    names = [tags[tag_id] for tag_id in draft.tag_ids if tag_id in tags]
    return {**metadata_of(draft), "is_enabled": draft.is_enabled, "tags": names}


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return cell_of(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _json(data: bytes) -> list[Numbered]:
    try:
        value = json.loads(decode(data).text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput.of("file", "The file is no JSON.") from error
    entries = value.get("entries") if isinstance(value, dict) else value
    if not isinstance(entries, list):
        raise InvalidInput.of("file", "A JSON file holds a list of entries, or an object with 'entries'.")
    return listed_rows(entries)


def _table(data: bytes) -> Iterator[tuple[int, Sequence[str]]]:
    text = decode(data).text
    delimiter = find_delimiter(text[:_SAMPLE_CHARS]) or ","
    try:
        for number, cells in enumerate(read_rows(lines_of(text), delimiter), 1):
            yield number, [unguarded(cell.strip()) for cell in cells]
    except csv.Error as error:
        raise ParseFailed(ParseReason.DAMAGED, "The table cannot be read: its quotes or fields are broken.") from error


def _sheet(data: bytes, limits: ParseLimits) -> Iterator[tuple[int, Sequence[str]]]:
    """The first sheet."""
    import python_calamine

    packed = CappedArchive(data, limits).repack(lambda name: not name.startswith("xl/media/"))
    try:
        with python_calamine.CalamineWorkbook.from_filelike(packed) as book:
            sheet = book.get_sheet_by_index(0)
            first = sheet.start[0] if sheet.start else 0
            rows = sheet.to_python(skip_empty_area=True)
    except (python_calamine.CalamineError, ValueError, OverflowError, IndexError) as error:
        raise ParseFailed(ParseReason.DAMAGED, "The workbook is damaged and cannot be read.") from error
    for number, cells in enumerate(rows, first + 1):
        yield number, [unguarded(_text(cell)) for cell in cells]


def _text(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def _by_head(rows: Iterator[tuple[int, Sequence[str]]]) -> list[Numbered]:
    """Rows under the first one that is not empty, which names the columns."""
    head = next((cells for _, cells in rows if any(cells)), [])
    fields = [field_of(name) for name in head]
    if "standard_question" not in fields:
        hint = "Name a column 'standard_question', 'Вопрос' or '标准问题', and one 'answers', 'Ответ' or '答案'."
        raise InvalidInput.of("file", "The file has no column of questions.", hint=hint)
    return [
        (number, {field: cell for field, cell in zip(fields, cells, strict=False) if field})
        for number, cells in rows
        if any(cells)
    ]
