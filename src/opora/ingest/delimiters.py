"""Finds the character that separates the fields of a text table."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator

DELIMITERS = ("\t", ";", ",", "|")
SAMPLE_LINES = 60
FIELD_LIMIT = 2**31 - 1


def find_delimiter(text: str, *, strict: bool = False, quoted: bool = True) -> str:
    """The delimiter by which most lines have the same number of fields, or '' when there is none.

    With ``quoted`` off, quotes are ordinary characters.
    ``strict`` asks for what prose never shows: every line alike, at least three lines.
    """
    best, best_score = "", 0.0
    for delimiter in DELIMITERS:
        counts = [len(row) for row in sample_rows(text, delimiter, quoted=quoted)]
        if not counts:
            continue
        usual, times = Counter(counts).most_common(1)[0]
        agreement = times / len(counts)
        if usual < 2 or agreement < (1.0 if strict else 0.5):
            continue
        if strict and (len(counts) < 3 or (delimiter == "," and usual < 3)):
            continue
        score = agreement * 2 + min(usual, 20) / 20
        if score > best_score:
            best, best_score = delimiter, score
    return best


def sample_rows(text: str, delimiter: str, *, quoted: bool = True) -> list[list[str]]:
    """The first non-empty rows, read by ``delimiter``; the last one, perhaps cut, is left out of a long text."""
    rows: list[list[str]] = []
    try:
        for row in read_rows(lines_of(text), delimiter, quoted=quoted):
            if any(cell.strip() for cell in row):
                rows.append(row)
            if len(rows) > SAMPLE_LINES:
                return rows[:-1]
    except csv.Error:
        return []
    return rows


def read_rows(lines: Iterator[str], delimiter: str, *, quoted: bool = True) -> Iterator[list[str]]:
    """Rows of fields; quotes, doubled quotes and line ends inside quotes are understood, fields may be huge."""
    csv.field_size_limit(FIELD_LIMIT)
    skip = delimiter != "\t"
    if not quoted:
        return csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE, skipinitialspace=skip)
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=skip)


def lines_of(text: str) -> Iterator[str]:
    """Lines with their ends, one at a time: a list of all of them would cost more than the text."""
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        if end < 0:
            yield text[start:]
            return
        yield text[start : end + 1]
        start = end + 1
