"""Which headings stand over a block, whether its parser says so or not."""

from __future__ import annotations

import re

from opora.domain.knowledge import Block, BlockKind

_UNDERLINE = re.compile(r"\n\s*(?:=+|-+)\s*\Z")


class Outline:
    """The open headings while blocks pass by in reading order.

    A parser that gives headings their path (own title last) is believed for every block; else levels decide.
    """

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def path_of(self, block: Block) -> tuple[str, ...]:
        """The headings over ``block``; a heading's own title comes last in its path."""
        given = block.place.heading_path
        if block.kind is BlockKind.HEADING:
            if given:
                self._open = []
                return given
            while self._open and self._open[-1][0] >= block.level:
                self._open.pop()
            self._open.append((block.level, heading_title(block.text)))
        return given or tuple(title for _, title in self._open)


def heading_title(text: str) -> str:
    """The words of a heading without Markdown's marks, on one line."""
    bare = _UNDERLINE.sub("", text.strip()) or text.strip()
    if bare.startswith("#"):
        bare = bare.lstrip("#").rstrip("#") or bare
    return " ".join(bare.split())
