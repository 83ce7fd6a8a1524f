"""What the merge reads from the database: parents, neighbours, FAQ entries and remembered references, in one batch."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping

from opora.domain.knowledge import Chunk, ChunkType
from opora.domain.scope import Scope
from opora.domain.search import SearchResult
from opora.ports import Database

ReadChunks = Callable[[Collection[str]], Awaitable[Mapping[str, Chunk]]]
"""Chunks by id; what is gone, disabled or outside the scope is left out."""

IMAGE_TYPES = frozenset({ChunkType.IMAGE_OCR, ChunkType.IMAGE_CAPTION, ChunkType.IMAGE_VECTOR})
SHORT_CONTEXT = 350
"""A text passage with fewer characters is widened by its neighbours."""


def chunk_reader(database: Database, scope: Scope) -> ReadChunks:
    """A reader of the scope's chunks, one short transaction a batch."""

    async def read(chunk_ids: Collection[str]) -> Mapping[str, Chunk]:
        async with database.read() as repos:
            return await repos.chunks.get_many(scope, chunk_ids)

    return read


def needed_ids(results: Iterable[SearchResult], references: Iterable[SearchResult]) -> set[str]:
    """Ids to read at once for these results and the references of an earlier answer."""
    wanted = {reference.chunk_id for reference in references}
    for result in results:
        if result.parent_chunk_id:
            wanted.add(result.parent_chunk_id)
        if result.chunk_type is ChunkType.FAQ:
            wanted.add(result.chunk_id)
        elif result.chunk_type is ChunkType.TEXT and len(result.content) < SHORT_CONTEXT:
            wanted.update((result.pre_chunk_id, result.next_chunk_id))
    wanted.discard("")
    return wanted


def grandparent_ids(results: Iterable[SearchResult], read: Mapping[str, Chunk]) -> set[str]:
    """Parents of the texts that image hits belong to; empty unless an image was hit."""
    parents = (read.get(r.parent_chunk_id) for r in results if r.chunk_type in IMAGE_TYPES)
    return {parent.parent_chunk_id for parent in parents if parent and parent.parent_chunk_id} - set(read)


async def read_all(
    results: Iterable[SearchResult], references: Iterable[SearchResult], read: ReadChunks
) -> Mapping[str, Chunk]:
    """One batch, and a second one only when image hits have grandparents. Nothing is read for nothing."""
    results = list(results)
    wanted = needed_ids(results, references)
    if not wanted:
        return {}
    chunks = dict(await read(sorted(wanted)))
    further = grandparent_ids(results, chunks)
    if further:
        chunks.update(await read(sorted(further)))
    return chunks
