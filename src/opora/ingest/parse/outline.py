"""Keeps the path of headings that stand over the place a parser has reached."""

from __future__ import annotations

from opora.domain.knowledge import Block, BlockKind, Place

MAX_LEVEL = 6


class Outline:
    """The open headings, outermost first; a new heading closes those of its level and deeper."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(title for _, title in self._open)

    def enter(self, level: int, title: str) -> tuple[str, ...]:
        """Open a heading; returns the path that ends in it."""
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        self._open.append((level, title))
        return self.path

    def heading(self, level: int, title: str, *, text: str = "", place: Place | None = None) -> Block:
        """The block of a heading, its own title last in its path. ``text`` is its source where that differs."""
        level = max(1, min(level, MAX_LEVEL))
        path = self.enter(level, title)
        return Block(kind=BlockKind.HEADING, text=text or title, level=level, place=place or Place(heading_path=path))
