"""Chooses the chunks that are worth a model's time, and gathers the tables of a document from its chunks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from opora.domain.knowledge import Chunk, ChunkType

MIN_CHARS = 40
"""A shorter chunk says too little to be asked about."""
TABLE_CHARS = 4_000
"""How much of a table is shown: its head and first rows tell what the others are like."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A sheet or table: its name and its beginning."""

    name: str
    text: str


def to_be_asked(chunks: Iterable[Chunk]) -> list[Chunk]:
    """The chunks of a document's own text that are long enough to hold an answer."""
    return [chunk for chunk in chunks if chunk.chunk_type is ChunkType.TEXT and len(chunk.content.strip()) >= MIN_CHARS]


def tables_of(chunks: Sequence[Chunk]) -> list[Table]:
    """The tables of a spreadsheet or CSV file, by sheet in order of appearance; none for other documents."""
    sheets: dict[str, list[str]] = {}
    for chunk in chunks:
        if chunk.chunk_type is ChunkType.TEXT and chunk.place.row is not None:
            sheets.setdefault(chunk.place.sheet, []).append(chunk.content)
    return [Table(name=name, text="\n".join(texts)[:TABLE_CHARS]) for name, texts in sheets.items()]
