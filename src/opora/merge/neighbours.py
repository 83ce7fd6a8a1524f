"""Step 7: a short passage gets the end of the text before it and the start of the text after it."""

from __future__ import annotations

from dataclasses import replace

from opora.domain.knowledge import Chunk, ChunkType
from opora.domain.search import SearchResult
from opora.merge.piece import Piece, fits_its_place
from opora.merge.reading import SHORT_CONTEXT
from opora.merge.state import Merging, Sources
from opora.text.overlap import BLOCK_GAP, join_chunk_content

EXPANDED_CONTEXT = 850
"""About how many characters a widened passage has, and never more."""
WORD_REACH = 40
"""How far a cut is moved so as not to split a word."""


def with_neighbours(state: Merging, sources: Sources) -> Merging:
    """Widen text passages under 350 characters to about 850 by neighbours of the same document."""
    return state.on([_widened(piece, sources) for piece in state.pieces])


def shares(before: int, after: int, room: int) -> tuple[int, int]:
    """How many characters each side gives: half each, and what one side lacks goes to the other."""
    half = room // 2
    left = min(before, max(half, room - after))
    return left, min(after, room - left)


def _widened(piece: Piece, sources: Sources) -> Piece:
    result = piece.result
    if result.chunk_type is not ChunkType.TEXT or len(result.content) >= SHORT_CONTEXT:
        return piece
    before = _neighbour(result.pre_chunk_id, result, sources)
    after = _neighbour(result.next_chunk_id, result, sources)
    prefix, exact_before = _before(before, result) if before is not None else ("", True)
    suffix, exact_after = _after(result, after) if after is not None else ("", True)
    if not prefix and not suffix:
        return piece
    left, right = shares(len(prefix), len(suffix), EXPANDED_CONTEXT - len(result.content))
    prefix, suffix = _tail(prefix, left), _head(suffix, right)
    place = result.place
    if exact_before and exact_after and fits_its_place(result.content, place):
        place = replace(place, start=place.start - len(prefix), end=place.end + len(suffix))
    return replace(piece, result=replace(result, content=f"{prefix}{result.content}{suffix}", place=place))


def _neighbour(chunk_id: str, result: SearchResult, sources: Sources) -> Chunk | None:
    chunk = sources.chunks.get(chunk_id) if chunk_id else None
    if chunk is None or chunk.document_id != result.document_id or chunk.chunk_type is not ChunkType.TEXT:
        return None
    return chunk


def _before(neighbour: Chunk, result: SearchResult) -> tuple[str, bool]:
    """What the text before says that the passage does not, and whether it can be counted in offsets."""
    overlap, exact = _overlap(neighbour.place.end - result.place.start, neighbour, result)
    whole = join_chunk_content(neighbour.content, result.content, overlap=overlap)
    if whole.endswith(result.content):
        return whole[: len(whole) - len(result.content)], exact
    return ("", True) if whole == result.content else (f"{neighbour.content}{BLOCK_GAP}", False)


def _after(result: SearchResult, neighbour: Chunk) -> tuple[str, bool]:
    overlap, exact = _overlap(result.place.end - neighbour.place.start, neighbour, result)
    whole = join_chunk_content(result.content, neighbour.content, overlap=overlap)
    return whole[len(result.content) :], exact


def _overlap(overlap: int, neighbour: Chunk, result: SearchResult) -> tuple[int | None, bool]:
    """The overlap by places, where both still fit their texts; exact when no unseen text lies between the two."""
    if not (fits_its_place(neighbour.content, neighbour.place) and fits_its_place(result.content, result.place)):
        return None, False
    return overlap, overlap >= -len(BLOCK_GAP)


def _tail(text: str, length: int) -> str:
    """The last ``length`` characters, from the start of a word where one begins soon."""
    if len(text) <= length:
        return text
    cut = text[len(text) - length :] if length else ""
    for at, char in enumerate(cut[:WORD_REACH]):
        if char.isspace():
            return cut[at + 1 :]
    return cut


def _head(text: str, length: int) -> str:
    """The first ``length`` characters, to the end of a word where one ends soon before."""
    if len(text) <= length:
        return text
    cut = text[:length]
    for at in range(len(cut) - 1, max(-1, len(cut) - 1 - WORD_REACH), -1):
        if cut[at].isspace():
            return cut[:at]
    return cut
