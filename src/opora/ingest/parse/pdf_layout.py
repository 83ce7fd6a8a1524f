"""Brings the words of a page into reading order: turned text apart, columns cut, lines joined."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from opora.ingest.parse.pdf_words import Rect, Word

MIN_GUTTER = 0.9
"""The narrowest gap between columns, in sizes of the letters."""
MIN_COLUMN_LINES = 3
MIN_COLUMN_CHARS = 12
"""Columns of prose have lines at least this long; shorter ones are cells of a table, read row by row."""
MAX_DEPTH = 6
CELL_GAP = 1.4
"""A gap this many sizes of the letters wide parts cells of a table."""
_SPACE = 0.18
"""The narrowest space between words, in sizes of the letters."""
_LEADERS = re.compile(r"(?:\s*[.·_…]){5,}\s*")
"""Rows of dots that lead the eye, in tables of contents and forms."""


@dataclass(slots=True, kw_only=True)
class Cell:
    """A run of words that a wide gap parts from the others on its line; from ``x0`` to ``x1``, turned upright."""

    text: str
    x0: float
    x1: float


@dataclass(slots=True, kw_only=True)
class Line:
    """Words on one line. ``box`` is as the page is shown, ``upright`` as if its text were turned upright."""

    text: str
    page: int
    box: Rect
    upright: Rect
    size: float
    cells: list[Cell]


@dataclass(slots=True, kw_only=True)
class _Set:
    """A line being set: its words with their upright boxes, left to right."""

    words: list[tuple[Rect, Word]]

    @property
    def left(self) -> float:
        return self.words[0][0][0]

    @property
    def right(self) -> float:
        return self.words[-1][0][2]


def reading_order(words: Sequence[Word], rules: Sequence[Rect]) -> list[list[Line]]:
    """Flows of lines, such as columns, in the order in which they are read."""
    turned: dict[int, list[Word]] = defaultdict(list)
    for word in words:
        turned[word.quarter].append(word)
    flows: list[list[Line]] = []
    for quarter in sorted(turned, key=lambda quarter: (-sum(len(w.text) for w in turned[quarter]), quarter)):
        boxed = [(_upright(word.box, quarter), word) for word in turned[quarter]]
        level = [_upright(rule, quarter) for rule in rules] if quarter == 0 else []
        flows.extend([_line(line) for line in flow] for flow in _cut(boxed, level, MAX_DEPTH))
    return flows


def _upright(box: Rect, quarter: int) -> Rect:
    """The box after turning the page back by ``quarter`` quarter turns; offsets do not matter, order does."""
    x0, y0, x1, y1 = box
    if quarter == 1:
        return y0, -x1, y1, -x0
    if quarter == 2:
        return -x1, -y1, -x0, -y0
    if quarter == 3:
        return -y1, x0, -y0, x1
    return box


def _cut(words: list[tuple[Rect, Word]], rules: Sequence[Rect], depth: int) -> list[list[_Set]]:
    """Split at the best gutter, if there is one: bands of columns between lines that run across it."""
    lines = _lines(words)
    gutter = _gutter(lines, rules) if depth and len(lines) >= MIN_COLUMN_LINES else None
    if gutter is None:
        return [lines] if lines else []
    flows: list[list[_Set]] = []
    band: list[_Set] = []
    across: list[_Set] = []
    for line in [*lines, None]:
        if line is not None and not _crosses(line, gutter):
            if across:
                flows.extend(_cut(_words_of(across), rules, depth - 1))
                across = []
            band.append(line)
            continue
        if band:
            flows.extend(_columns(band, gutter, rules, depth))
            band = []
        if line is not None:
            across.append(line)
    if across:
        flows.extend(_cut(_words_of(across), rules, depth - 1))
    return flows


def _columns(band: list[_Set], gutter: float, rules: Sequence[Rect], depth: int) -> list[list[_Set]]:
    words = _words_of(band)
    left = [entry for entry in words if entry[0][2] <= gutter]
    right = [entry for entry in words if entry[0][0] >= gutter]
    flows: list[list[_Set]] = []
    for side in (left, right):
        if side:
            flows.extend(_cut(side, rules, depth - 1))
    return flows


def _gutter(lines: Sequence[_Set], rules: Sequence[Rect]) -> float | None:
    """The x that parts the most lines into two columns of prose, or None."""
    size = median(word.size for line in lines for _, word in line.words)
    gap = max(size * MIN_GUTTER, 4.0)
    best, best_score = None, 0.0
    for middle in sorted(_candidates(lines, gap)):
        score = _parting(lines, middle, gap)
        if score > best_score and not _is_table(lines, rules, middle):
            best, best_score = middle, score
    return best


def _candidates(lines: Sequence[_Set], gap: float) -> set[float]:
    found: set[float] = set()
    for line in lines:
        found.add(round(line.left - gap / 2))
        for (before, _), (after, _) in pairwise(line.words):
            if after[0] - before[2] >= gap:
                found.add(round((before[2] + after[0]) / 2))
                found.add(round(after[0] - gap / 2))
    return found


def _parting(lines: Sequence[_Set], middle: float, gap: float) -> float:
    """How many lines the narrower side has, 0 where this is no gutter between columns of prose."""
    low, high = middle - gap * 0.4, middle + gap * 0.4
    left: list[int] = []
    right: list[int] = []
    crossing = 0
    for line in lines:
        before = after = 0
        crosses = False
        for box, word in line.words:
            if box[2] <= low:
                before += len(word.text) + 1
            elif box[0] >= high:
                after += len(word.text) + 1
            else:
                crosses = True
                break
        if crosses:
            crossing += 1
            continue
        if before:
            left.append(before)
        if after:
            right.append(after)
    fewest = min(len(left), len(right))
    if fewest < MIN_COLUMN_LINES or crossing > len(lines) / 2:
        return 0.0
    if median(left) < MIN_COLUMN_CHARS or median(right) < MIN_COLUMN_CHARS:
        return 0.0
    return fewest - crossing * 0.25


def _is_table(lines: Sequence[_Set], rules: Sequence[Rect], middle: float) -> bool:
    """Rules drawn across the gap, between the lines, mean rows of a table."""
    top = min(box[1] for line in lines for box, _ in line.words)
    bottom = max(box[3] for line in lines for box, _ in line.words)
    heights = {round(rule[1]) for rule in rules if rule[0] < middle - 4 and rule[2] > middle + 4}
    return sum(1 for height in heights if top + 2 < height < bottom - 2) >= 2


def _crosses(line: _Set, gutter: float) -> bool:
    return any(box[0] < gutter < box[2] for box, _ in line.words)


def _words_of(lines: Iterable[_Set]) -> list[tuple[Rect, Word]]:
    return [entry for line in lines for entry in line.words]


def _lines(words: list[tuple[Rect, Word]]) -> list[_Set]:
    """Words whose middles stand at one height, top to bottom; each line left to right."""
    ordered = sorted(words, key=lambda entry: (entry[0][1] + entry[0][3], entry[0][0]))
    lines: list[_Set] = []
    middle = size = 0.0
    for entry in ordered:
        box = entry[0]
        at = (box[1] + box[3]) / 2
        if lines and abs(at - middle) <= 0.45 * min(size, max(box[3] - box[1], 1.0)):
            lines[-1].words.append(entry)
            continue
        lines.append(_Set(words=[entry]))
        middle, size = at, max(box[3] - box[1], 1.0)
    for line in lines:
        line.words.sort(key=lambda entry: entry[0][0])
    return lines


def _line(line: _Set) -> Line:
    cells: list[list[tuple[Rect, Word]]] = []
    previous: Rect | None = None
    for entry in line.words:
        if previous is None or entry[0][0] - previous[2] > entry[1].size * CELL_GAP:
            cells.append([])
        cells[-1].append(entry)
        previous = entry[0]
    made = [Cell(text=_text(cell), x0=cell[0][0][0], x1=cell[-1][0][2]) for cell in cells]
    return Line(
        text=_LEADERS.sub(" … ", " ".join(cell.text for cell in made)).strip(),
        page=line.words[0][1].page,
        box=_union([word.box for _, word in line.words]),
        upright=_union([box for box, _ in line.words]),
        size=_usual_size(line),
        cells=made,
    )


def _text(words: list[tuple[Rect, Word]]) -> str:
    pieces: list[str] = []
    previous: Rect | None = None
    for box, word in words:
        if previous is not None:
            gap = box[0] - previous[2]
            if gap > word.size * _SPACE or (word.spaced and gap > -word.size):
                pieces.append(" ")
        pieces.append(word.text)
        previous = box
    return "".join(pieces)


def _usual_size(line: _Set) -> float:
    """The size of most of its letters; fonts of one size may have boxes of different heights."""
    sizes: Counter[float] = Counter()
    for _, word in line.words:
        sizes[word.size] += len(word.text)
    return sizes.most_common(1)[0][0]


def _union(boxes: Sequence[Rect]) -> Rect:
    return (
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    )
