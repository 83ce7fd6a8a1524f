"""Carriage returns taken out before cutting, so that a file's line ends change no chunk; offsets are put back after."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

from opora.domain.knowledge import BLOCK_JOIN, Block, Place

_RETURN = re.compile(r"\r\n?")


class Returns:
    """Blocks without carriage returns, and how their offsets are to be read in the text that has them."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._removed: list[int] = []
        """Offset in the cleaned text of the line end of each pair that lost its return."""
        self.blocks: Sequence[Block] = blocks
        if any("\r" in block.text for block in blocks):
            self.blocks = [self._clean(block, start) for block, start in zip(blocks, _starts(blocks), strict=True)]

    def place(self, place: Place) -> Place:
        if not self._removed:
            return place
        return replace(place, start=self._original(place.start), end=self._original(place.end))

    def _original(self, offset: int) -> int:
        return offset + bisect_left(self._removed, offset)

    def _clean(self, block: Block, start: int) -> Block:
        if "\r" not in block.text:
            return block
        start -= len(self._removed)
        here = 0
        for match in _RETURN.finditer(block.text):
            if match.end() - match.start() == 2:
                self._removed.append(start + match.start() - here)
                here += 1
        path = tuple(_plain(title) for title in block.place.heading_path)
        return replace(
            block,
            text=_plain(block.text),
            head=_plain(block.head),
            rows=tuple(_plain(row) for row in block.rows),
            place=replace(block.place, heading_path=path),
        )


def _plain(text: str) -> str:
    return _RETURN.sub("\n", text) if "\r" in text else text


def _starts(blocks: Sequence[Block]) -> list[int]:
    starts: list[int] = []
    at = 0
    for block in blocks:
        starts.append(at)
        at += len(block.text) + len(BLOCK_JOIN)
    return starts
