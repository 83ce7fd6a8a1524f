"""Step 4: a child that was hit gives way to the text around it: its parent, or the parent of the text it belongs to."""

from __future__ import annotations

from dataclasses import replace

from opora.domain.knowledge import Chunk, ChunkType, Place
from opora.domain.search import SearchResult
from opora.merge.piece import Piece
from opora.merge.reading import IMAGE_TYPES
from opora.merge.state import Merging, Sources
from opora.merge.texts import Texts
from opora.text.image_info import prune_markdown_images, read_image_info
from opora.text.overlap import BLOCK_GAP


def with_parents(state: Merging, sources: Sources) -> Merging:
    """Children with the current text of their parents. Id, score and images stay those of the hit."""
    return state.on([_resolved(piece, sources) for piece in state.pieces])


def _resolved(piece: Piece, sources: Sources) -> Piece:
    result = piece.result
    around = _surrounding(result, sources)
    if around is None:
        return piece
    text = around.content
    urls = {image.url for image in read_image_info(result.image_info) if image.url}
    if urls:
        text = prune_markdown_images(text, urls)
    content = _with_own_text(text, result, sources.texts)
    place = _around(result.place, around.place, is_whole=content == around.content)
    return replace(piece, result=replace(result, content=content, place=place))


def _surrounding(result: SearchResult, sources: Sources) -> Chunk | None:
    """The parent text of a text child; for an image the parent of its text, or that text itself."""
    parent = sources.chunks.get(result.parent_chunk_id) if result.parent_chunk_id else None
    if parent is None or parent.document_id != result.document_id:
        return None
    if result.chunk_type is ChunkType.TEXT:
        return parent if parent.chunk_type is ChunkType.PARENT_TEXT else None
    if result.chunk_type not in IMAGE_TYPES:
        return None
    if parent.chunk_type is not ChunkType.TEXT:
        return parent
    above = sources.chunks.get(parent.parent_chunk_id) if parent.parent_chunk_id else None
    fits = above and above.chunk_type is ChunkType.PARENT_TEXT and above.document_id == result.document_id
    return above if fits else parent


def _with_own_text(text: str, result: SearchResult, texts: Texts) -> str:
    """The text around the hit; the hit's own words are put before it where they do not stand there (an edited child,
    the words of an image)."""
    return text if texts.contains_lines(text, result.content) else f"{result.content}{BLOCK_GAP}{text}"


def _around(own: Place, parent: Place, *, is_whole: bool) -> Place:
    """Offsets of the text shown, page and boxes of the hit, so that the citation opens where the hit is."""
    if not is_whole or parent.end <= parent.start:
        return own
    if own.page is None:
        return replace(parent, boxes=own.boxes or parent.boxes, row=own.row or parent.row)
    return replace(own, start=parent.start, end=parent.end)
