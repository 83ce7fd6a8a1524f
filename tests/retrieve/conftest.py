"""A real database and a real engine with a few bases in them, and the values that fusion tests start from."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opora.domain.knowledge import BaseType, Chunk, ChunkType, Document, KnowledgeBase, ParseStatus
from opora.domain.scope import LOCAL_PRINCIPAL, BaseRef, Scope
from opora.domain.search import IndexRow
from opora.engines.directory import EngineDirectory
from opora.engines.sqlite import SqliteEngine
from opora.models.single import SingleEmbedder
from opora.ports import EmbedderCard, Vectors
from opora.retrieve.search import Search
from opora.store.database import SqlDatabase

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
DIMENSION = 8


class AxisEmbedder:
    """An embedder whose vectors a test can foresee: a word that is known turns the vector to its own axis."""

    def __init__(self, axes: Mapping[str, int], *, dimension: int = DIMENSION, threshold: float = 0.3) -> None:
        self._axes = axes
        self._size = dimension
        self.calls: list[str] = []
        self._card = EmbedderCard(identity="axis", dimension=DIMENSION, max_tokens=1000, vector_threshold=threshold)

    @property
    def card(self) -> EmbedderCard:
        return self._card

    async def embed_query(self, text: str) -> Vectors:
        self.calls.append(text)
        return self.vector(text)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self.vector(text) for text in texts])

    async def close(self) -> None: ...

    def vector(self, text: str) -> Vectors:
        row = np.zeros(self._size, np.float32)
        for word, axis in self._axes.items():
            if word in text.lower():
                row[axis] += 1.0
        if not row.any():
            row[-1] = 1.0
        unit: Vectors = (row / np.linalg.norm(row)).astype(np.float32)
        return unit


@dataclass
class House:
    """A database and an engine that a test fills and searches."""

    database: SqlDatabase
    engine: SqliteEngine
    embedder: AxisEmbedder
    bases: list[KnowledgeBase] = field(default_factory=list)

    @property
    def search(self) -> Search:
        return Search(
            database=self.database,
            engines=EngineDirectory({"sqlite": self.engine}, default="sqlite"),
            embedders=SingleEmbedder(self.embedder),
        )

    def scope(self, *base_ids: str, **limits: Any) -> Scope:
        refs = tuple(
            BaseRef(base_id=b.base_id, tenant_id=b.tenant_id)
            for base_id in (base_ids or [b.base_id for b in self.bases])
            for b in self.bases
            if b.base_id == base_id
        )
        return Scope(principal=LOCAL_PRINCIPAL, bases=refs, **limits)

    async def add(
        self,
        base_id: str,
        texts: Mapping[str, str],
        *,
        base_type: BaseType = BaseType.DOCUMENT,
        tenant_id: str = "default",
        metadata: Mapping[str, Mapping[str, Any]] | None = None,
        **values: Any,
    ) -> None:
        """A base of one document whose chunks are ``texts`` by id, stored, indexed and embedded."""
        base = KnowledgeBase(
            base_id=base_id,
            tenant_id=tenant_id,
            name=base_id,
            base_type=base_type,
            created_at=NOW,
            updated_at=NOW,
            **values,
        )
        scope = Scope(principal=LOCAL_PRINCIPAL, bases=(BaseRef(base_id=base_id, tenant_id=tenant_id),))
        document = Document(
            document_id=f"doc-{base_id}",
            base_id=base_id,
            tenant_id=tenant_id,
            title=f"Title of {base_id}",
            file_name=f"{base_id}.txt",
            file_type="txt",
            file_size=1,
            file_hash=base_id,
            parse_status=ParseStatus.COMPLETED,
            created_at=NOW,
            updated_at=NOW,
        )
        kind = ChunkType.FAQ if base_type is BaseType.FAQ else ChunkType.TEXT
        chunks = [
            Chunk(
                chunk_id=chunk_id,
                base_id=base_id,
                tenant_id=tenant_id,
                document_id=document.document_id,
                chunk_index=index,
                content=text,
                chunk_type=kind,
                metadata=(metadata or {}).get(chunk_id, {}),
            )
            for index, (chunk_id, text) in enumerate(texts.items())
        ]
        async with self.database.begin() as repos:
            await repos.bases.add(base)
            await repos.documents.add(scope, document)
            await repos.chunks.replace_document(scope, document, chunks)
        await self.engine.write(scope, [self.row(chunk) for chunk in chunks])
        self.bases.append(base)

    def row(self, chunk: Chunk) -> IndexRow:
        vector = self.embedder.vector(chunk.content)
        return IndexRow(
            chunk_id=chunk.chunk_id,
            base_id=chunk.base_id,
            tenant_id=chunk.tenant_id,
            document_id=chunk.document_id,
            text=chunk.content,
            vector=vector.tobytes(),
            dimension=vector.size,
            chunk_type=chunk.chunk_type,
        )


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    database = await SqlDatabase(f"sqlite+aiosqlite:///{tmp_path}/opora.db").open()
    engine = SqliteEngine(tmp_path / "index.db")
    yield House(database=database, engine=engine, embedder=AxisEmbedder({"проезд": 0, "отпуск": 1, "вернуть": 2}))
    await engine.close()
    await database.close()
