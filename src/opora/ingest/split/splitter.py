"""The splitter: a parsed document in, its chunks out, each with a stable id, its place and its neighbours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from opora.domain.chunk_ids import cut_chunk_id
from opora.domain.knowledge import Chunk, ChunkingConfig, ChunkType, Document, ParsedDocument
from opora.ingest.split.config import limits, validate_chunking
from opora.ingest.split.parents import families
from opora.ingest.split.pieces import Piece, pieces_of
from opora.ingest.split.returns import Returns
from opora.ingest.split.structure import stretches


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    chunk_id: str
    piece: Piece
    chunk_type: ChunkType = ChunkType.TEXT
    parent_chunk_id: str = ""


class StructureSplitter:
    """Cuts by structure, then by sentences, then plainly; the same document always gives the same chunks."""

    def split(self, parsed: ParsedDocument, config: ChunkingConfig, *, owner: Document) -> list[Chunk]:
        """Chunks in reading order, a parent before its children; `InvalidInput` for sizes that do not fit.

        ``chunk_index`` counts the searched chunks from 0 without a gap; parents are numbered after them.
        """
        validate_chunking(config)
        returns = Returns(parsed.blocks)
        return _chunks(_drafts(returns, config, owner.document_id), returns, owner)


def _drafts(returns: Returns, config: ChunkingConfig, document_id: str) -> list[_Draft]:
    ids = _Ids(document_id)
    found = stretches(returns.blocks, cap=config.hard_cap)
    if not config.parent_child:
        sizes = limits(config.size, config.overlap, config.hard_cap)
        return [_Draft(chunk_id=ids.of(piece), piece=piece) for stretch in found for piece in pieces_of(stretch, sizes)]
    drafts: list[_Draft] = []
    parent_sizes = limits(config.parent_size, 0, config.hard_cap)
    child_sizes = limits(config.child_size, config.child_overlap, config.hard_cap)
    for family in families(found, parent_sizes, child_sizes):
        parent_id = ids.of(family.parent, ChunkType.PARENT_TEXT)
        drafts.append(_Draft(chunk_id=parent_id, piece=family.parent, chunk_type=ChunkType.PARENT_TEXT))
        drafts += [_Draft(chunk_id=ids.of(child), piece=child, parent_chunk_id=parent_id) for child in family.children]
    return drafts


class _Ids:
    """Ids from what a chunk says, and the number of equal chunks before it; never from its position."""

    def __init__(self, document_id: str) -> None:
        self._document_id = document_id
        self._seen: Counter[str] = Counter()

    def of(self, piece: Piece, chunk_type: ChunkType = ChunkType.TEXT) -> str:
        says = (self._document_id, chunk_type, piece.context, piece.content)
        first = cut_chunk_id(*says, 0)
        occurrence = self._seen[first]
        self._seen[first] += 1
        return cut_chunk_id(*says, occurrence) if occurrence else first


def _chunks(drafts: list[_Draft], returns: Returns, owner: Document) -> list[Chunk]:
    searched = [draft.chunk_id for draft in drafts if draft.chunk_type is not ChunkType.PARENT_TEXT]
    return list(_linked(drafts, searched, returns, owner))


def _linked(drafts: list[_Draft], searched: list[str], returns: Returns, owner: Document) -> Iterator[Chunk]:
    index, parent_index = 0, len(searched)
    for draft in drafts:
        is_parent = draft.chunk_type is ChunkType.PARENT_TEXT
        yield Chunk(
            chunk_id=draft.chunk_id,
            base_id=owner.base_id,
            tenant_id=owner.tenant_id,
            document_id=owner.document_id,
            chunk_index=parent_index if is_parent else index,
            content=draft.piece.content,
            context=draft.piece.context,
            chunk_type=draft.chunk_type,
            place=returns.place(draft.piece.place),
            parent_chunk_id=draft.parent_chunk_id,
            pre_chunk_id="" if is_parent or index == 0 else searched[index - 1],
            next_chunk_id="" if is_parent or index + 1 >= len(searched) else searched[index + 1],
            tag_ids=owner.tag_ids,
            metadata={"cut_code": True} if draft.piece.is_cut_code else {},
        )
        if is_parent:
            parent_index += 1
        else:
            index += 1
