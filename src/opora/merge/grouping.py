"""Step 5: neighbouring pieces of one document become one passage, in reading order."""

from __future__ import annotations

from opora.domain.knowledge import ChunkType
from opora.domain.trace import Drop
from opora.merge.piece import Piece, absorbed, joined
from opora.merge.state import Merging, Sources, dropped
from opora.merge.texts import Texts

SEQUENTIAL_TYPES = frozenset({ChunkType.TEXT, ChunkType.PARENT_TEXT, ChunkType.WIKI_PAGE})
"""Types whose chunks are pieces of one running text. FAQ entries and images that stand in a row are not one text."""


def grouped(state: Merging, sources: Sources) -> Merging:
    """Join pieces of one document and type whose indexes follow each other or whose texts contain each other.

    By index and text, not by offsets alone: an edited chunk no longer fits its offsets.
    """
    groups: dict[tuple[str, str], list[Piece]] = {}
    for piece in state.pieces:
        key = (piece.result.document_id or piece.result.chunk_id, piece.result.chunk_type.value)
        groups.setdefault(key, []).append(piece)
    pieces: list[Piece] = []
    drops: list[Drop] = []
    for members in groups.values():
        members.sort(key=lambda piece: (piece.first, piece.last, piece.result.chunk_id))
        merged, gone = sequential(members, sources.texts)
        pieces += merged
        drops += gone
    return state.on(pieces, drops)


def sequential(members: list[Piece], texts: Texts) -> tuple[list[Piece], list[Drop]]:
    """Walk pieces in the order of their index, joining each to the one before where they belong together."""
    done: list[Piece] = []
    drops: list[Drop] = []
    for piece in members:
        merged = _merged(done[-1], piece, texts) if done else None
        if merged is None:
            done.append(piece)
            continue
        before = {done[-1].result.chunk_id, piece.result.chunk_id}
        gone = sorted(before - {merged.result.chunk_id})
        drops += [dropped(chunk_id, "merged", f"into {merged.result.chunk_id}") for chunk_id in gone]
        done[-1] = merged
    return done, drops


def _merged(current: Piece, following: Piece, texts: Texts) -> Piece | None:
    is_next = following.first == current.last + 1 and current.result.chunk_type in SEQUENTIAL_TYPES
    if is_next and texts.normal(current.result.content) != texts.normal(following.result.content):
        return joined(current, following)
    if current.result.context and following.result.context and current.result.context != following.result.context:
        return None
    if texts.contains(current.result.content, following.result.content):
        return absorbed(current, following)
    if texts.contains(following.result.content, current.result.content):
        return absorbed(following, current)
    return None
