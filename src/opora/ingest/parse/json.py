"""Reads JSON and JSON Lines: each record a row that names its fields, numbers as they were written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NoReturn

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import Block, BlockKind, ParsedDocument, ParseReason, Place
from opora.ingest.limits import ParseLimits
from opora.ingest.parse.rows import CELL_JOIN, table_block
from opora.text.decode import decode

ROWS = 200
"""Records a block."""
_FALSE = {True: "true", False: "false", None: ""}


def parse(data: bytes, file_name: str, limits: ParseLimits) -> ParsedDocument:
    decoded = decode(data)
    text = decoded.text.strip()
    if file_name.lower().endswith((".jsonl", ".ndjson")):
        records, kind = list(_lines(text)), "jsonl"
    else:
        try:
            value, kind = _load(text), "json"
        except ParseFailed:
            # Several values, one a line, are often given the other name.
            if not _is_lines(text):
                raise
            records, kind = list(_lines(text)), "jsonl"
        else:
            if not isinstance(value, list):
                blocks = tuple(_object(value, (), limits.depth))
                return ParsedDocument(blocks=blocks, file_type="json", metadata={"encoding": decoded.encoding})
            records = list(enumerate(value, start=1))
    blocks = tuple(_rows(records, (), limits.depth))
    return ParsedDocument(blocks=blocks, file_type=kind, metadata={"encoding": decoded.encoding})


def _is_lines(text: str) -> bool:
    """Whether the first line is a whole value by itself, and others follow."""
    first, _, rest = text.partition("\n")
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return bool(rest.strip())


def _lines(text: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            yield number, _load(line, first=number)


def _load(text: str, *, first: int = 1) -> Any:
    """The value, numbers as the text they were. Raises `ParseFailed` naming the line."""

    def constant(name: str) -> NoReturn:
        raise json.JSONDecodeError(f"{name} is no number", text, text.find(name))

    try:
        return json.loads(text, parse_int=str, parse_float=str, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise ParseFailed(
            ParseReason.DAMAGED,
            f"The JSON is broken in line {first + error.lineno - 1}, column {error.colno}: {error.msg}.",
            hint="Mend that line, or export the file again.",
        ) from error
    except RecursionError as error:
        raise _too_deep() from error


def _object(value: Any, path: tuple[str, ...], depth: int) -> Iterator[Block]:
    """A value's own fields as lines, then what is inside it under its name."""
    if depth < 0:
        raise _too_deep()
    if not isinstance(value, dict):
        if text := _scalar(value):
            yield Block(kind=BlockKind.PARAGRAPH, text=text, place=Place(heading_path=path))
        return
    own = [f"{name}: {text}" for name, item in value.items() if not _is_deep(item) and (text := _flat(item))]
    if own:
        yield Block(kind=BlockKind.PARAGRAPH, text="\n".join(own), place=Place(heading_path=path))
    for name, item in value.items():
        if not _is_deep(item):
            continue
        under = (*path, name)
        heading = Block(kind=BlockKind.HEADING, text=name, level=min(len(under), 6), place=Place(heading_path=under))
        inside = list(
            _rows(list(enumerate(item, start=1)), under, depth - 1)
            if isinstance(item, list)
            else _object(item, under, depth - 1)
        )
        yield from [heading, *inside] if inside else []


def _rows(records: list[tuple[int, Any]], path: tuple[str, ...], depth: int) -> Iterator[Block]:
    """Records as rows of tables, each by its number."""
    batch: list[str] = []
    first = last = 0
    for number, record in records:
        text = CELL_JOIN.join(_fields(record, "", depth)) if isinstance(record, dict | list) else _scalar(record)
        if batch and (len(batch) >= ROWS or number != last + 1):
            yield table_block("", batch, Place(heading_path=path, row=first, row_end=last))
            batch = []
        if text.strip():
            first = first if batch else number
            batch.append(" ".join(text.split()))
            last = number
    if batch:
        yield table_block("", batch, Place(heading_path=path, row=first, row_end=last))


def _fields(value: Any, path: str, depth: int) -> Iterator[str]:
    """Every leaf with the path that leads to it: ``city.name: Казань``."""
    if depth < 0:
        raise _too_deep()
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _fields(item, f"{path}.{name}" if path else name, depth - 1)
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        for item in value:
            yield from _fields(item, path, depth - 1)
    elif text := _flat(value):
        yield f"{path}: {text}" if path else text


def _is_deep(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict | list) for item in value))


def _flat(value: Any) -> str:
    return ", ".join(filter(None, map(_scalar, value))) if isinstance(value, list) else _scalar(value)


def _scalar(value: Any) -> str:
    return value if isinstance(value, str) else _FALSE.get(value, str(value))


def _too_deep() -> ParseFailed:
    return ParseFailed(
        ParseReason.DAMAGED, "The JSON nests its values too deeply to be read.", hint="Flatten it before uploading."
    )
