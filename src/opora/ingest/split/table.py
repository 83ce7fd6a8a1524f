"""Tables: where their rows begin and which numbers they have, so that cuts fall between rows and can be cited."""

from __future__ import annotations

from opora.domain.knowledge import Block
from opora.ingest.split.stretch import Stretch


def row_begins(block: Block, at: int) -> list[int]:
    """Where each row begins in a block at ``at``; lines are taken for rows where ``rows`` do not add up to ``text``."""
    head = len(block.head) + 1 if block.head and block.text.startswith(f"{block.head}\n") else 0
    lengths = [len(row) for row in block.rows]
    if not lengths or head + sum(lengths) + len(lengths) - 1 != len(block.text):
        lengths = [len(line) for line in block.text[head:].split("\n")]
    begins: list[int] = []
    at += head
    for length in lengths:
        begins.append(at)
        at += length + 1
    return begins


def row_numbers(stretch: Stretch, begin: int, end: int) -> tuple[int | None, int | None]:
    """Numbers of the first and the last row in ``begin:end``, where the parser numbers rows."""
    place = stretch.parts[-1].block.place
    if not stretch.rows or place.row is None:
        return None, None
    first, last = stretch.rows_in(begin, end)
    return place.row + first, place.row + last
