"""Joins the texts of neighbouring chunks without doubling what they share and without losing what they do not.

A known overlap (from places that still fit their texts) decides. Without one the texts themselves decide: a repeated
table head is dropped, a shared edge is dropped when it is long enough and can't be read in two ways; in doubt all text
stays.
"""

from __future__ import annotations

import re

from opora.text.signature import is_contained

MIN_TEXT_OVERLAP = 16
"""A shared edge shorter than this is taken for chance."""
MAX_TEXT_OVERLAP = 8_000
BLOCK_GAP = "\n\n"
_CELL_JOIN = " | "
_TABLE_RULE = re.compile(r"^\s*\|?\s*:?-{3,}:?\s*(?:\|\s*:?-{3,}:?\s*)*\|?\s*$")


def contains_chunk_content(outer: str, inner: str) -> bool:
    """Whether ``outer`` already says all of ``inner``, case and blanks aside."""
    return is_contained(inner, outer)


def join_chunk_content(first: str, second: str, *, overlap: int | None = None) -> str:
    """The text of two chunks in reading order as one.

    ``overlap`` is the number of characters that the end of ``first`` shares with the start of ``second``, negative for
    the characters that stand between them, None when nobody knows. An overlap that the texts contradict is not used.
    """
    if not first or not second:
        return first or second
    if overlap is not None:
        if overlap <= 0:
            return first + _gap(-overlap) + second
        if overlap <= len(second) and first.endswith(second[:overlap]):
            return first + second[overlap:]
    return _join_by_text(first, second)


def text_overlap(first: str, second: str) -> int:
    """Length of the edge that both texts share, 0 when it is short or ambiguous (a periodic text fits in many ways)."""
    longest = min(len(first), len(second), MAX_TEXT_OVERLAP)
    if longest < MIN_TEXT_OVERLAP:
        return 0
    borders = _borders(second[:longest], first[-longest:])
    if len(borders) != 1:
        return 0
    return borders[0]


def repeated_head(first: str, second: str) -> int:
    """Length of the table head at the start of ``second`` that ``first`` starts with too; 0 when there is none.

    A head is a row with a rule under it, or a row of cells that stands in each text once.
    """
    lines = second.splitlines(keepends=True)
    other = first.splitlines(keepends=True)
    if len(lines) >= 3 and lines[:2] == other[:2] and _TABLE_RULE.match(lines[1]):
        return len(lines[0]) + len(lines[1])
    if len(lines) < 2 or len(other) < 2 or lines[0] != other[0] or _CELL_JOIN not in lines[0]:
        return 0
    is_head = other.count(lines[0]) == lines.count(lines[0]) == 1 and _CELL_JOIN in lines[1] and _CELL_JOIN in other[1]
    return len(lines[0]) if is_head else 0


def _join_by_text(first: str, second: str) -> str:
    head = repeated_head(first, second)
    body = second[head:]
    if head:
        shared = text_overlap(first, body)
        return first + body[shared:] if shared or first.endswith("\n") else f"{first}\n{body}"
    shared = text_overlap(first, second)
    if shared:
        return first + second[shared:]
    if not _is_periodic_edge(first, second):
        if contains_chunk_content(first, second):
            return first
        if contains_chunk_content(second, first):
            return second
    return f"{first}{second}" if first.endswith("\n") else f"{first}\n{second}"


def _is_periodic_edge(first: str, second: str) -> bool:
    """The edge of the two fits in more than one way, so that 'contained' may only be a repetition."""
    longest = min(len(first), len(second), MAX_TEXT_OVERLAP)
    return longest >= MIN_TEXT_OVERLAP and len(_borders(second[:longest], first[-longest:])) > 1


def _borders(start: str, end: str) -> list[int]:
    """Every length from `MIN_TEXT_OVERLAP` up at which ``end`` ends with what ``start`` starts with, longest first.

    The prefix function of ``start`` over ``end`` (Knuth, Morris and Pratt): linear in the length of the edge.
    """
    failure = [0] * len(start)
    length = 0
    for i in range(1, len(start)):
        while length and start[i] != start[length]:
            length = failure[length - 1]
        length += start[i] == start[length]
        failure[i] = length
    length = 0
    for char in end:
        while length and (length == len(start) or start[length] != char):
            length = failure[length - 1]
        length += start[length] == char
    found = []
    while length >= MIN_TEXT_OVERLAP:
        found.append(length)
        length = failure[length - 1]
    return found


def _gap(characters: int) -> str:
    """What to put for text between two places that no chunk holds: blanks that the splitter left out."""
    if characters == 0:
        return ""
    return "\n" if characters == 1 else BLOCK_GAP
