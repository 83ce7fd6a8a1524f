"""Joins the lines of PDF pages to headings, paragraphs and lists, with broken words made whole."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from statistics import median

from opora.domain.knowledge import Block, BlockKind, Place
from opora.ingest.parse.outline import Outline
from opora.ingest.parse.pdf_layout import Line
from opora.ingest.parse.pdf_table import box_of, find_tables
from opora.ingest.parse.pdf_words import HYPHEN
from opora.ingest.parse.rows import table_block

HEADING_SIZE = 1.15
"""A heading is set this many times larger than the body."""
HEADING_CHARS = 200
PARAGRAPH_GAP = 1.35
"""A step between lines this many times the usual one begins a paragraph."""
INDENT = 0.9
"""A line set in by this many sizes of its letters begins a paragraph."""

_ITEM = re.compile(r"(?:[•‣▪◦●○■–—*·-]|\d{1,3}[.)]|\(?[a-zа-я]\))\s+\S", re.IGNORECASE)
_BULLET = re.compile(r"[•‣▪◦●○■·]\s+")
_LINE_END_HYPHENS = ("-", HYPHEN, "\u2011")
_KEPT_PARTICLES = re.compile(r"(?:то|либо|нибудь|ка|таки)\b")
_KEPT_BEGINNINGS = frozenset({"кое", "кой", "из", "по", "во", "в"})
_ENDS = (".", "!", "?", ":", ";", "…", "。", "！", "？", "»", '"')


class BlockMaker:
    """Takes flows of lines in reading order; a paragraph that runs on in the next column or page stays whole."""

    def __init__(self, body_size: float) -> None:
        self._body = max(body_size, 1.0)
        self._outline = Outline()
        self._blocks: list[Block] = []
        self._open: list[Line] = []
        self._kind = BlockKind.PARAGRAPH

    def add(self, flow: list[Line]) -> None:
        """Take the lines of one column; its tables become blocks of their own."""
        at = 0
        for table in find_tables(flow):
            self._lines(flow[at : table.begin], flow)
            self._close()
            head, *rows = table.texts()
            self._blocks.append(table_block(head, rows, table.place(flow, self._outline.path)))
            at = table.end
        self._lines(flow[at:], flow)

    def _lines(self, lines: list[Line], flow: list[Line]) -> None:
        step = _usual_step(flow)
        previous: Line | None = None
        for line in lines:
            if self._begins(line, previous, step):
                self._close()
            if not self._open:
                self._kind = self._kind_of(line)
            self._open.append(line)
            previous = line

    def finish(self) -> list[Block]:
        self._close()
        return self._blocks

    def _begins(self, line: Line, previous: Line | None, step: float) -> bool:
        """True when a line does not go on with what is open."""
        if not self._open:
            return False
        if previous is None:
            return not self._runs_on(line)
        if self._is_heading(line) != (self._kind is BlockKind.HEADING) or abs(line.size - previous.size) > 0.2 * max(
            line.size, previous.size
        ):
            return True
        if self._kind is not BlockKind.HEADING and _begins_item(line, previous):
            return True
        if line.upright[1] - previous.upright[1] > step * PARAGRAPH_GAP:
            return True
        set_in = line.upright[0] - previous.upright[0]
        return self._kind is BlockKind.PARAGRAPH and set_in > INDENT * line.size and _ends_sentence(previous.text)

    def _runs_on(self, line: Line) -> bool:
        """A paragraph goes on over a column or page end when it has not ended and small letters follow."""
        last = self._open[-1]
        if self._kind is BlockKind.HEADING or self._is_heading(line) or abs(line.size - last.size) > 0.1 * line.size:
            return False
        return not _ends_sentence(last.text) and line.text[:1].islower() and not _ITEM.match(line.text)

    def _kind_of(self, line: Line) -> BlockKind:
        if self._is_heading(line):
            return BlockKind.HEADING
        return BlockKind.LIST if _ITEM.match(line.text) else BlockKind.PARAGRAPH

    def _is_heading(self, line: Line) -> bool:
        """Large letters; lines of a table of contents are not headings themselves."""
        return line.size >= self._body * HEADING_SIZE and "…" not in line.text and any(map(str.isalpha, line.text))

    def _close(self) -> None:
        if not self._open:
            return
        lines, self._open = self._open, []
        text, starts = join_lines([line.text.strip() for line in lines])
        boxes = tuple(box_of(line) for line in lines)
        place = Place(boxes=boxes, box_starts=tuple(starts), page=boxes[0].page, page_end=boxes[-1].page)
        if self._kind is BlockKind.HEADING and len(text) <= HEADING_CHARS:
            ratio = max(line.size for line in lines) / self._body
            level = 1 if ratio >= 1.6 else 2 if ratio >= 1.3 else 3
            path = self._outline.enter(level, text)
            self._add(BlockKind.HEADING, text, level, replace(place, heading_path=path))
            return
        kind = BlockKind.LIST if self._kind is BlockKind.LIST else BlockKind.PARAGRAPH
        bullet = _BULLET.match(text) if kind is BlockKind.LIST else None
        if bullet:
            text = f"- {text[bullet.end() :]}"
            starts = [0, *(start + 2 - bullet.end() for start in starts[1:])]
            place = replace(place, box_starts=tuple(starts))
        self._add(kind, text, 0, replace(place, heading_path=self._outline.path))

    def _add(self, kind: BlockKind, text: str, level: int, place: Place) -> None:
        if text.strip():
            self._blocks.append(Block(kind=kind, text=text, level=level, place=place))


def _begins_item(line: Line, previous: Line) -> bool:
    """A bullet always begins an item; a number or a dash may also stand at a line end's other side by chance."""
    if _BULLET.match(line.text):
        return True
    if not _ITEM.match(line.text):
        return False
    is_item_above = _ITEM.match(previous.text) is not None and abs(previous.upright[0] - line.upright[0]) < line.size
    return is_item_above or _ends_sentence(previous.text) or line.upright[0] - previous.upright[0] > INDENT * line.size


def join_lines(lines: list[str]) -> tuple[str, list[int]]:
    """One text of several lines, and where each line begins in it.

    A hyphen at a line end goes only where it broke a word: before a small letter.
    """
    pieces: list[str] = []
    starts: list[int] = []
    at = 0
    for index, line in enumerate(lines):
        starts.append(at)
        piece = line if index + 1 == len(lines) else _before(line, lines[index + 1])
        pieces.append(piece)
        at += len(piece)
    return "".join(pieces).replace(HYPHEN, "-"), starts


def _before(line: str, following: str) -> str:
    """A line as it stands before the next one: with a space, with its hyphen, or without either."""
    if line.endswith(_LINE_END_HYPHENS) and line[-2:-1].isalnum():
        return line[:-1] + ("-" if _keeps_hyphen(line[:-1], following) else "")
    return line + " " if _needs_space(line[-1], following[:1]) else line


def _keeps_hyphen(before: str, after: str) -> bool:
    if not after[:1].islower() or not before[-1:].isalpha():
        return True
    last = re.split(r"[^\w]", before)[-1].lower()
    return _KEPT_PARTICLES.match(after) is not None or last in _KEPT_BEGINNINGS


def _needs_space(before: str, after: str) -> bool:
    """Chinese and Japanese are written without spaces, also over a line end."""
    return not (_is_wide(before) and _is_wide(after))


def _is_wide(char: str) -> bool:
    return "\u2e80" <= char <= "\u9fff" or "\uff00" <= char <= "\uffef" or "\u3000" <= char <= "\u303f"


def _ends_sentence(text: str) -> bool:
    return text.rstrip().endswith(_ENDS)


def _usual_step(flow: list[Line]) -> float:
    steps = [
        after.upright[1] - before.upright[1] for before, after in pairwise(flow) if after.upright[1] > before.upright[1]
    ]
    if not steps:
        return 0.0
    return min(median(steps), 2.2 * median(line.size for line in flow))
