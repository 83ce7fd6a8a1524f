"""Carries parsed documents from the child process: frames of JSON, checked as they come in.

The child handles hostile files, so nothing that it sends is ever executed or unpickled.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from opora.domain.knowledge import BLOCK_JOIN, Block, BlockKind, Box, ParsedDocument, Place

HEADER = struct.Struct(">cI")
"""One byte for the kind of frame and the length of what follows."""
JSON_FRAME = b"J"
BYTES_FRAME = b"B"
BATCH_CHARS = 512 * 1024
"""Blocks travel in frames of about this many characters, so that neither side holds the document twice."""
BATCH_ROWS = 1_000


class WireError(Exception):
    """A frame is not what was agreed."""


def frame(message: Mapping[str, Any]) -> bytes:
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "ignore")
    return HEADER.pack(JSON_FRAME, len(body)) + body


def bytes_frame(data: bytes) -> bytes:
    return HEADER.pack(BYTES_FRAME, len(data)) + data


def message_of(body: bytes) -> dict[str, Any]:
    try:
        message = json.loads(body)
    except ValueError as error:
        raise WireError("A frame is not JSON.") from error
    if not isinstance(message, dict):
        raise WireError("A frame is not an object.")
    return message


def document_frames(parsed: ParsedDocument) -> Iterator[bytes]:
    """Frames of blocks, then one that ends the document."""
    batch: list[list[Any]] = []
    size = 0
    for block in parsed.blocks:
        batch.append(_pack(block))
        size += len(block.text)
        if size >= BATCH_CHARS:
            yield frame({"blocks": batch})
            batch, size = [], 0
    if batch:
        yield frame({"blocks": batch})
    yield frame({"file_type": parsed.file_type, "title": parsed.title, "metadata": dict(parsed.metadata)})


def row_frames(rows: Iterable[tuple[int, Mapping[str, Any]]]) -> Iterator[bytes]:
    """Frames of numbered rows, then one that ends them."""
    batch: list[list[Any]] = []
    size = 0
    for number, values in rows:
        batch.append([number, dict(values)])
        size += sum(len(str(value)) for value in values.values())
        if size >= BATCH_CHARS or len(batch) >= BATCH_ROWS:
            yield frame({"rows": batch})
            batch, size = [], 0
    if batch:
        yield frame({"rows": batch})
    yield frame({"end": True})


def rows_of(message: Mapping[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    """The rows of a message; raises `WireError` for anything else."""
    try:
        rows = [(number, values) for number, values in message["rows"]]
    except (TypeError, ValueError) as error:
        raise WireError("A row is not what was agreed.") from error
    if not all(type(number) is int and isinstance(values, dict) for number, values in rows):
        raise WireError("A row is not what was agreed.")
    return rows


class DocumentReader:
    """Builds a document from its messages, giving each block its offsets in the whole text."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._reached = 0

    def add(self, message: Mapping[str, Any]) -> None:
        """Take in the blocks of a message; raises `WireError` for anything else."""
        try:
            for fields in message["blocks"]:
                block = _unpack(fields, self._reached)
                self._blocks.append(block)
                self._reached += len(block.text) + len(BLOCK_JOIN)
        except (KeyError, TypeError, ValueError) as error:
            raise WireError("A block is not what was agreed.") from error

    def finish(self, message: Mapping[str, Any]) -> ParsedDocument:
        metadata = message.get("metadata")
        return ParsedDocument(
            blocks=tuple(self._blocks),
            file_type=str(message.get("file_type", "")),
            title=str(message.get("title", "")),
            metadata=metadata if isinstance(metadata, dict) else {},
        )


def _pack(block: Block) -> list[Any]:
    """Fields in a fixed order; the text of a table is left out, since its head and rows tell it."""
    place = block.place
    boxes = [[box.page, round(box.x0, 1), round(box.y0, 1), round(box.x1, 1), round(box.y1, 1)] for box in place.boxes]
    text = "" if block.rows and _table_text(block.head, block.rows) == block.text else block.text
    path, starts = list(place.heading_path), list(place.box_starts)
    where = [place.page, place.page_end, boxes, starts, path, place.sheet, place.row, place.row_end]
    return [block.kind.value, text, block.level, block.head, list(block.rows), where]


def _unpack(fields: Sequence[Any], start: int) -> Block:
    kind, text, level, head, rows, where = fields
    _expect(str, text, head, *rows)
    whole = text or _table_text(head, rows)
    return Block(
        kind=BlockKind(kind),
        text=whole,
        level=int(level),
        head=head,
        rows=tuple(rows),
        place=_unpack_place(where, start, start + len(whole)),
    )


def _unpack_place(where: Sequence[Any], start: int, end: int) -> Place:
    page, page_end, boxes, starts, path, sheet, row, row_end = where
    _expect(str, sheet, *path)
    _expect(int, *starts)
    _expect((int, type(None)), page, page_end, row, row_end)
    return Place(
        start=start,
        end=end,
        page=page,
        page_end=page_end,
        boxes=tuple(
            Box(page=int(number), x0=float(x0), y0=float(y0), x1=float(x1), y1=float(y1))
            for number, x0, y0, x1, y1 in boxes
        ),
        box_starts=tuple(starts),
        heading_path=tuple(path),
        sheet=sheet,
        row=row,
        row_end=row_end,
    )


def _expect(kind: type | tuple[type, ...], *values: object) -> None:
    if not all(isinstance(value, kind) for value in values):
        raise WireError("A field is of another type than was agreed.")


def _table_text(head: str, rows: Sequence[str]) -> str:
    return "\n".join([head, *rows] if head else rows)
