"""Writes chunks into an engine, exactly once in effect: every write is by chunk id and safe to repeat."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from opora.domain.errors import DimensionMismatch
from opora.domain.knowledge import Chunk, Document, IndexingStrategy
from opora.domain.scope import Scope
from opora.domain.search import IndexRow
from opora.ports import SearchEngine, Vectors

WRITE_STEP = 512
"""Rows a call: an engine's transaction stays short, and memory does not grow with the document."""


def index_row(chunk: Chunk, indexing: IndexingStrategy, vector: Vectors | None = None) -> IndexRow:
    """One chunk as engines store it. Without keyword search its words stay out of the engine."""
    return IndexRow(
        chunk_id=chunk.chunk_id,
        base_id=chunk.base_id,
        tenant_id=chunk.tenant_id,
        document_id=chunk.document_id,
        text=chunk.search_text if indexing.keyword else "",
        vector=None if vector is None else np.ascontiguousarray(vector, dtype=np.float32).tobytes(),
        dimension=0 if vector is None else int(vector.shape[0]),
        chunk_type=chunk.chunk_type,
        enabled=chunk.enabled,
        tag_ids=chunk.tag_ids,
    )


def as_switched(chunks: Iterable[Chunk], document: Document) -> list[Chunk]:
    """The chunks as search sees them: those of a document that is switched off are off."""
    return [chunk if document.enabled else replace(chunk, enabled=False) for chunk in chunks]


async def write_keywords(
    engine: SearchEngine, scope: Scope, chunks: Sequence[Chunk], indexing: IndexingStrategy
) -> None:
    """Make the searched ones among ``chunks`` findable by their words; vectors that are there stay."""
    searched = [chunk for chunk in chunks if chunk.is_searched]
    for start in range(0, len(searched), WRITE_STEP):
        await engine.write(scope, [index_row(chunk, indexing) for chunk in searched[start : start + WRITE_STEP]])


async def write_vectors(
    engine: SearchEngine,
    scope: Scope,
    chunks: Sequence[Chunk],
    vectors: Vectors,
    dimension: int,
    indexing: IndexingStrategy,
) -> None:
    """Write the vector of each chunk, row by row of ``vectors``, of shape (chunks, dimension)."""
    if vectors.shape != (len(chunks), dimension):
        raise DimensionMismatch(
            f"The embedding model gave vectors of shape {vectors.shape}; ({len(chunks)}, {dimension}) was expected.",
            hint="The model behind the configured name was changed: index the knowledge base anew.",
            details={"expected": dimension, "got": int(vectors.shape[-1])},
        )
    rows = [index_row(chunk, indexing, vector) for chunk, vector in zip(chunks, vectors, strict=True)]
    await engine.write(scope, rows)
