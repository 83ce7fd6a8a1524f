"""Cuts a passage into what can be quoted by itself: sentences, list items and rows of tables, with their offsets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from opora.text.graphemes import safe_cut
from opora.text.sentences import sentence_spans

MAX_QUOTE_CHARS = 480
"""A longer sentence is cut where a clause or a word ends."""

MIN_WEIGHT = 8
"""Letters of the shortest unit, a Chinese character counting as two: scraps such as «1.2.» and «etc.» say nothing."""

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_HEADING = re.compile(r"#{1,6}\s[^\n]*(?:\n|\Z)")
_ROW = re.compile(r"\A\s*\||\s\|\s|\t")
_CELL_END = re.compile(r"\s\|\s|\t|\A\s*\||\|\s*\Z")
_VALUE = re.compile(r"(?!(?:19|20)\d\d\Z)\W{0,3}\d[\d\s.,:/%₽$€-]*\Z")
"""A number, a date or a telephone, and no year, which may well be the name of a column."""
_RULE = re.compile(r"[\s|:+=-]*\Z")
_WORD = re.compile(r"[^\W_]")
_CLAUSE_END = re.compile(r"[,;:，；：、)）»”](?=\s|[\u3400-\u9fff])|\s")


@dataclass(frozen=True, slots=True)
class Unit:
    """A quotable stretch of a passage; ``scored`` is its text with what it can't be understood without."""

    start: int
    end: int
    scored: str


def quote_units(content: str) -> list[Unit]:
    """The units of a passage in order. A row of a table is scored together with the head of the table.

    A row that names its columns itself (``Город: Казань | Суточные: 700``) is no head, even as the first. A first row
    with a value in it and no rule under it may be a head or not: it is quoted too.

    Scraps are left out, unless there is nothing else.
    """
    units = _units(content)
    return [unit for unit in units if _weight(unit.scored) >= MIN_WEIGHT] or units


def _weight(text: str) -> int:
    return sum(map(str.isalpha, text)) + len(_HAN.findall(text))


def _units(content: str) -> list[Unit]:
    units: list[Unit] = []
    head: tuple[int, int] | None = None
    for start, end in _lines(content):
        text = content[start:end]
        if not _ROW.search(text):
            head = None
            units.extend(Unit(a, b, content[a:b]) for a, b in _bounded(content, start, end))
        elif head is None:
            following = _row_after(content, end)
            if not _names_columns(text, following):
                head = (start, end)
            if head is None or not following or _is_doubtful(content, start, end):
                units.extend(Unit(a, b, content[a:b]) for a, b in _bounded(content, start, end))
        else:
            title = content[head[0] : head[1]]
            units.extend(Unit(a, b, f"{title}\n{content[a:b]}") for a, b in _bounded(content, start, end))
    return units


def _lines(content: str) -> Iterator[tuple[int, int]]:
    """Sentences without headings, and rows of tables one by one."""
    for start, end in sentence_spans(content):
        text = content[start:end]
        # A row is told by its own line: a sentence may begin in the line before a table.
        if not any(_ROW.search(line) for line in text.split("\n")):
            heading = _HEADING.match(text)
            yield from _stripped(content, start + (heading.end() if heading else 0), end)
            continue
        place = start
        for line in text.split("\n"):
            if not _HEADING.match(line):
                yield from _stripped(content, place, place + len(line))
            place += len(line) + 1


def _stripped(content: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The stretch without blanks at its ends, if anything readable is left."""
    text = content[start:end]
    if not _WORD.search(text) or _RULE.match(text):
        return
    yield start + len(text) - len(text.lstrip()), end - (len(text) - len(text.rstrip()))


def _row_after(content: str, end: int) -> str:
    """The row with words that follows directly, past the rule under a head; '' when there is none."""
    for line in content[end:].split("\n", 3)[1:3]:
        if not _ROW.search(line):
            return ""
        if not _RULE.match(line):
            return line
    return ""


def _names_columns(row: str, following: str) -> bool:
    """Whether a row says what its cells are: all of them, or one in the words of the row below."""
    cells, below = _cells(row), _cells(following)
    return all(cells.values()) or not {name for name in cells.values() if name}.isdisjoint(below.values())


def _cells(row: str) -> dict[str, str]:
    """The cells of a row, each with the name of its column if that stands before it."""
    cells = (cell.strip() for cell in _CELL_END.split(row) if cell.strip())
    return {cell: cell.partition(": ")[0] if ": " in cell else "" for cell in cells}


def _is_doubtful(content: str, start: int, end: int) -> bool:
    """Whether a first row holds a value, as the names of columns do not, and has no rule under it."""
    below = content[end:].split("\n", 2)[1:2]
    has_rule = any(_ROW.search(line) and _RULE.match(line) for line in below)
    return not has_rule and any(map(_VALUE.match, _cells(content[start:end])))


def _bounded(content: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > MAX_QUOTE_CHARS:
        ends = [match.end() for match in _CLAUSE_END.finditer(content, start, start + MAX_QUOTE_CHARS)]
        late = [place for place in ends if place - start >= MAX_QUOTE_CHARS // 2]
        cut = late[-1] if late else safe_cut(content, start + MAX_QUOTE_CHARS, anchor=start)
        if not start < cut < end:
            cut = min(end, start + MAX_QUOTE_CHARS)
        yield from _stripped(content, start, cut)
        start = cut
    yield from _stripped(content, start, end)
