"""What the steps of the merge hand to each other, and what they all may look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from opora.domain.knowledge import Chunk
from opora.domain.search import SearchResult
from opora.domain.trace import Drop
from opora.merge.piece import Piece
from opora.merge.texts import Texts

STAGE = "merged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Merging:
    """Pieces so far and what was let go on the way."""

    pieces: tuple[Piece, ...] = ()
    drops: tuple[Drop, ...] = ()

    def on(self, pieces: list[Piece], drops: list[Drop] | None = None) -> Merging:
        return replace(self, pieces=tuple(pieces), drops=(*self.drops, *(drops or ())))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """The question, the references of its last round, and the chunks that were read for the results."""

    query: str
    asked: str = ""
    """The user's own words, where the question is another wording of them."""
    references: tuple[SearchResult, ...] = ()
    chunks: Mapping[str, Chunk] = field(default_factory=dict)
    texts: Texts = field(default_factory=Texts)


def dropped(chunk_id: str, reason: str, detail: str = "") -> Drop:
    return Drop(chunk_id=chunk_id, stage=STAGE, reason=reason, detail=detail)
