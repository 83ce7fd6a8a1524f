"""Reads plain text: paragraphs between blank lines, each its own block unless there are very many."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

from opora.domain.knowledge import Block, BlockKind, ParsedDocument
from opora.ingest.limits import ParseLimits
from opora.text.decode import decode

GROUP_FROM = 2_000_000
"""Characters from which paragraphs share blocks, to keep the number of objects small."""
GROUP_CHARS = 4_000
LINE_CUT_FROM = 8_000
"""A paragraph longer than this is cut at line ends, where it has any."""

_BLANK = re.compile(r"\n[^\S\n]*\n\s*")


def parse(data: bytes, file_name: str, limits: ParseLimits) -> ParsedDocument:
    decoded = decode(data)
    text = decoded.text
    pieces = _pieces(text)
    if len(text) >= GROUP_FROM:
        pieces = _grouped(pieces, "\n\n", GROUP_CHARS)
    blocks = tuple(Block(kind=BlockKind.PARAGRAPH, text=piece) for piece in pieces)
    return ParsedDocument(blocks=blocks, file_type="txt", metadata={"encoding": decoded.encoding})


def _pieces(text: str) -> Iterator[str]:
    start = 0
    for gap in _BLANK.finditer(text):
        yield from _paragraph(text[start : gap.start()])
        start = gap.end()
    yield from _paragraph(text[start:])


def _paragraph(text: str) -> Iterator[str]:
    text = text.rstrip().lstrip("\n")
    if not text.strip():
        return
    if len(text) <= LINE_CUT_FROM or "\n" not in text:
        yield text
        return
    yield from _grouped(iter(text.split("\n")), "\n", GROUP_CHARS)


def _grouped(pieces: Iterator[str], join: str, most: int) -> Iterator[str]:
    """Neighbours joined up to about ``most`` characters, at cuts chosen by content: an edit moves no later cut."""
    group: list[str] = []
    size = 0
    for piece in pieces:
        group.append(piece)
        size += len(piece)
        if size >= most or (size >= most // 8 and zlib.crc32(piece.encode("utf-8", "ignore")) % 8 == 0):
            yield join.join(group)
            group, size = [], 0
    if group:
        yield join.join(group)
