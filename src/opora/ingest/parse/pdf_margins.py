"""Finds running headers, footers and page numbers, so that they do not stand inside the text of each page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from opora.ingest.parse.pdf_layout import Line

MIN_PAGES = 3
REPEATED_SHARE = 0.5
"""A line at the edge of more than this part of the pages is a running one."""
EDGE_LINES = 2
_DIGITS = re.compile(r"\d+")
_ROMAN = re.compile(r"[ivxlc]+", re.IGNORECASE)

Flows = list[list[Line]]


def drop_repeated(pages: list[Flows]) -> list[Flows]:
    """Pages without running lines; one with words in it stays where it stands first."""
    filled = [flows for flows in pages if any(flows)]
    if len(filled) < MIN_PAGES:
        return pages
    seen: Counter[str] = Counter()
    for flows in filled:
        seen.update({_key(line) for line in _edge_lines(flows)})
    running = {key for key, count in seen.items() if count > len(filled) * REPEATED_SHARE}
    if not running:
        return pages
    kept: set[str] = set()
    return [_without(flows, running, kept) for flows in pages]


def _without(flows: Flows, running: set[str], kept: set[str]) -> Flows:
    dropped: set[int] = set()
    for line in _edge_lines(flows):
        key = _key(line)
        if key not in running:
            continue
        if key in kept or not any(char.isalpha() for char in key):
            dropped.add(id(line))
        kept.add(key)
    left = [[line for line in flow if id(line) not in dropped] for flow in flows]
    return [flow for flow in left if flow]


def _edge_lines(flows: Flows) -> Iterator[Line]:
    """The highest and the lowest lines of a page, each once."""
    lines = sorted((line for flow in flows for line in flow), key=lambda line: line.box[1])
    tops = lines[:EDGE_LINES]
    yield from tops
    yield from lines[max(EDGE_LINES, len(lines) - EDGE_LINES) :]


def _key(line: Line) -> str:
    """The line with its numbers made alike, at its height on the page."""
    text = _DIGITS.sub("#", " ".join(line.text.split()))
    if _ROMAN.fullmatch(text):
        text = "#"
    return f"{text}@{round(line.box[1] / 12)}" if text == "#" else text
