"""Puts a dataset's passages into a base through the real stores: a passage is a document of one chunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256

from opora.domain.knowledge import Chunk, Document, KnowledgeBase, ParseStatus
from opora.domain.scope import Scope
from opora.evaluate.dataset import Passage
from opora.index.writer import WRITE_STEP, write_keywords, write_vectors
from opora.ports import Database, Embedder, SearchEngine

_WHEN = datetime(2000, 1, 1, tzinfo=UTC)


async def load(
    passages: Sequence[Passage],
    *,
    scope: Scope,
    base: KnowledgeBase,
    database: Database,
    engine: SearchEngine,
    embedder: Embedder | None,
) -> None:
    """Ids of chunks and documents are those of the passages. Without an embedder words alone are indexed."""
    for start in range(0, len(passages), WRITE_STEP):
        step = passages[start : start + WRITE_STEP]
        chunks = [_chunk(base, passage) for passage in step]
        if embedder is None:
            await write_keywords(engine, scope, chunks, base.indexing)
        else:
            vectors = await embedder.embed_passages([chunk.search_text for chunk in chunks])
            await write_vectors(engine, scope, chunks, vectors, embedder.card.dimension, base.indexing)
        async with database.begin() as stored:
            for passage, chunk in zip(step, chunks, strict=True):
                document = _document(base, passage)
                await stored.documents.add(scope, document)
                await stored.chunks.replace_document(scope, document, [chunk])
                if embedder is not None:
                    await stored.chunks.mark_embedded(scope, [chunk.chunk_id], embedder.card.identity)
    if embedder is not None:
        async with database.begin() as stored:
            await stored.bases.update(scope, replace(base, embedding_model_id=embedder.card.identity))


def _chunk(base: KnowledgeBase, passage: Passage) -> Chunk:
    return Chunk(
        chunk_id=passage.passage_id,
        base_id=base.base_id,
        tenant_id=base.tenant_id,
        document_id=passage.passage_id,
        chunk_index=0,
        content=passage.text,
        context=passage.title,
    )


def _document(base: KnowledgeBase, passage: Passage) -> Document:
    # Two passages may have the same text: the hash of the id keeps the base from taking one for the other.
    digest = sha256(passage.passage_id.encode()).hexdigest()
    return Document(
        document_id=passage.passage_id,
        base_id=base.base_id,
        tenant_id=base.tenant_id,
        title=passage.title,
        file_name=f"{passage.passage_id}.txt",
        file_type="txt",
        file_size=len(passage.text.encode("utf-8", "surrogatepass")),
        file_hash=digest,
        parse_status=ParseStatus.COMPLETED,
        indexed_version=1,
        chunk_count=1,
        embedded_count=1,
        created_at=_WHEN,
        updated_at=_WHEN,
    )
