"""Citation tags in the text of an answer: numbers for people, and the rows of a table that a quote stands in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from typing import Any

MAX_TAG_CHARS = 4_096
_TAG = re.compile(r"\s*<(?:kb|web) ([^<>]*?)/>")
_ATTRIBUTE = re.compile(r'([a-z_]+)="([^"]*)"')
_OPEN = re.compile(r"\s*(?:<(?:k|kb|kb [^<>]*|w|we|web|web [^<>]*)?)?\Z")
"""What may become the blanks before a tag, or the start of one."""


class Numbers:
    """Puts ``[1]`` in the place of tags while an answer comes in; the same source keeps its number."""

    def __init__(self) -> None:
        self.sources: list[dict[str, str]] = []
        """The attributes of each source's first tag, in the order of their numbers."""
        self._held = ""

    def feed(self, piece: str) -> str:
        """What can be shown so far. A tag that is not whole yet waits for its rest."""
        text = _TAG.sub(self._number, self._held + piece)
        held = _OPEN.search(text)
        cut = held.start() if held and len(text) - held.start() <= MAX_TAG_CHARS else len(text)
        self._held = text[cut:]
        return text[:cut]

    def rest(self) -> str:
        """What was waiting when the answer ended."""
        held, self._held = self._held, ""
        return held

    def _number(self, match: re.Match[str]) -> str:
        source = {name: unescape(value) for name, value in _ATTRIBUTE.findall(match[1])}
        key = source.get("chunk_id") or source.get("url")
        for index, known in enumerate(self.sources, start=1):
            if key == (known.get("chunk_id") or known.get("url")):
                return f" [{index}]"
        self.sources.append(source)
        return f" [{len(self.sources)}]"


def numbered(answer: str) -> tuple[str, list[dict[str, str]]]:
    """The answer with numbers in place of citation tags, and the sources in the order of their numbers."""
    numbers = Numbers()
    text = numbers.feed(answer)
    return text + numbers.rest(), numbers.sources


def rows_of_quote(citation: Mapping[str, Any]) -> list[int]:
    """The rows of a table that a checked citation quotes; empty where that can't be told.

    It can where the passage has a line for each of its rows.
    """
    place, quote, content = citation["place"], citation["quote"], citation["content"]
    first, last = place.get("row"), place.get("row_end") or place.get("row")
    if not quote or not first or content.count("\n") != last - first:
        return []
    start = first + content.count("\n", 0, quote["start"])
    end = first + content.count("\n", 0, max(quote["start"], quote["end"] - 1))
    return list(range(start, end + 1))
