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
_NUMBER = re.compile(r"(?<!\d)[0-9]{1,5}(?!\d)")
_ROMAN = re.compile(r"[ivxlc]+", re.IGNORECASE)

Flows = list[list[Line]]


def drop_repeated(pages: list[Flows]) -> list[Flows]:
    """Pages without running lines; one with words in it stays where it stands first."""
    filled = [flows for flows in pages if any(flows)]
    if len(filled) < MIN_PAGES:
        return pages
    seen: Counter[str] = Counter()
    for flows in filled:
        seen.update({key for line in _edge_lines(flows) for key in _keys(line)})
    running = {key for key, count in seen.items() if count > len(filled) * REPEATED_SHARE}
    if not running:
        return pages
    kept: set[str] = set()
    return [_without(flows, running, kept) for flows in pages]


def _without(flows: Flows, running: set[str], kept: set[str]) -> Flows:
    dropped: set[int] = set()
    for line in _edge_lines(flows):
        keys = running.intersection(_keys(line))
        if not keys:
            continue
        if keys & kept or not any(char.isalpha() for char in line.text) or _ROMAN.fullmatch(line.text.strip("-– ")):
            dropped.add(id(line))
        kept |= keys
    left = [[line for line in flow if id(line) not in dropped] for flow in flows]
    return [flow for flow in left if flow]


def _edge_lines(flows: Flows) -> Iterator[Line]:
    """The highest and the lowest lines of a page, each once."""
    lines = sorted((line for flow in flows for line in flow), key=lambda line: line.box[1])
    yield from lines[:EDGE_LINES]
    yield from lines[max(EDGE_LINES, len(lines) - EDGE_LINES) :]


def _keys(line: Line) -> Iterator[str]:
    """What would be the same on other pages: the line itself, or all of it but a number that grows with the pages."""
    text = " ".join(line.text.split())
    yield text
    if _ROMAN.fullmatch(text.strip("-– ")):
        yield f"roman at {round(line.box[1] / 12)}"
    for number in _NUMBER.finditer(text):
        yield f"{text[: number.start()]}#{int(number.group()) - line.page}#{text[number.end() :]}"
