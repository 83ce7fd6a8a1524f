"""A database and an engine of each kind, with documents whose pieces know what stands beside them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opora.domain.context import ContextAnswer, ContextQuery, ContextResult
from opora.domain.errors import ModelNotConfigured
from opora.domain.knowledge import Chunk, Document, KnowledgeBase, ParseStatus, Place
from opora.domain.scope import LOCAL_PRINCIPAL, BaseRef, Scope
from opora.domain.search import IndexRow, ScoreKind, SearchMode
from opora.engines.directory import EngineDirectory
from opora.engines.table import make_engine
from opora.ports import QuestionVector, SearchEngine, Vectors
from opora.retriever.search import ContextSearch
from opora.store.database import SqlDatabase

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
MODEL = "by-hand"


def unit(*numbers: float) -> Vectors:
    vector = np.array(numbers, np.float32)
    return vector / np.float32(np.linalg.norm(vector))


class HandVectoriser:
    """Gives each question the vector that the test says, and counts how often it is asked."""

    def __init__(self, vectors: Mapping[str, Sequence[float]], *, identity: str = MODEL) -> None:
        self.vectors = dict(vectors)
        self.identity = identity
        self.asked: list[str] = []

    async def vectorise(self, question: str, base: KnowledgeBase | None = None) -> QuestionVector:
        self.asked.append(question)
        if question not in self.vectors:
            raise ModelNotConfigured("There is no model.")
        return QuestionVector(identity=self.identity, vector=unit(*self.vectors[question]))


@dataclass
class Shelf:
    database: SqlDatabase
    engine: SearchEngine
    vectoriser: HandVectoriser
    bases: list[KnowledgeBase] = field(default_factory=list)

    def retriever(self, **options: Any) -> ContextSearch:
        options = {"vectoriser": self.vectoriser, **options}
        engines = EngineDirectory({self.engine.name: self.engine}, default=self.engine.name)
        return ContextSearch(database=self.database, engines=engines, **options)

    def scope(self, *base_ids: str, **limits: Any) -> Scope:
        refs = [BaseRef(base_id=b.base_id, tenant_id=b.tenant_id) for b in self.bases]
        return Scope(
            principal=LOCAL_PRINCIPAL,
            bases=tuple(ref for ref in refs if not base_ids or ref.base_id in base_ids),
            **limits,
        )

    async def ask(self, question: str, mode: SearchMode = SearchMode.SEMANTIC, **options: Any) -> ContextAnswer:
        scope = options.pop("scope", None) or self.scope()
        return await self.retriever().search(scope, ContextQuery(question=question, search_type=mode, **options))

    async def base(self, base_id: str, *, tenant_id: str = "default", **values: Any) -> KnowledgeBase:
        base = KnowledgeBase(
            base_id=base_id, tenant_id=tenant_id, name=base_id, created_at=NOW, updated_at=NOW, **values
        )
        async with self.database.begin() as repos:
            await repos.bases.add(base)
        self.bases.append(base)
        return base

    async def document(
        self, base: KnowledgeBase, document_id: str, texts: Sequence[tuple[str, Sequence[float] | None]], **values: Any
    ) -> list[str]:
        """A document of pieces in their order, each with its vector, stored and indexed; the ids of the pieces."""
        scope = Scope(principal=LOCAL_PRINCIPAL, bases=(BaseRef(base_id=base.base_id, tenant_id=base.tenant_id),))
        document = Document(
            document_id=document_id,
            base_id=base.base_id,
            tenant_id=base.tenant_id,
            title=f"Title of {document_id}",
            file_name=f"{document_id}.pdf",
            file_type="pdf",
            file_size=1,
            file_hash=document_id,
            parse_status=ParseStatus.COMPLETED,
            created_at=NOW,
            updated_at=NOW,
        )
        ids = [f"{document_id}-{number}" for number in range(len(texts))]
        switched_off = values.get("disabled", ())
        chunks = [
            Chunk(
                chunk_id=chunk_id,
                base_id=base.base_id,
                tenant_id=base.tenant_id,
                document_id=document_id,
                chunk_index=number,
                content=text,
                place=Place(page=number + 1, page_end=number + 1),
                pre_chunk_id=ids[number - 1] if number else "",
                next_chunk_id=ids[number + 1] if number + 1 < len(ids) else "",
                enabled=number not in switched_off,
                tag_ids=values.get("tags", {}).get(number, ()),
            )
            for number, (chunk_id, (text, _)) in enumerate(zip(ids, texts, strict=True))
        ]
        async with self.database.begin() as repos:
            await repos.documents.add(scope, document)
            await repos.chunks.replace_document(scope, document, chunks)
        await self.engine.write(
            scope, [_row(chunk, vector) for chunk, (_, vector) in zip(chunks, texts, strict=True) if chunk.is_searched]
        )
        return ids


def _row(chunk: Chunk, vector: Sequence[float] | None) -> IndexRow:
    return IndexRow(
        chunk_id=chunk.chunk_id,
        base_id=chunk.base_id,
        tenant_id=chunk.tenant_id,
        document_id=chunk.document_id,
        text=chunk.search_text,
        vector=None if vector is None else unit(*vector).tobytes(),
        dimension=0 if vector is None else len(vector),
        enabled=chunk.enabled,
        tag_ids=chunk.tag_ids,
    )


def piece(chunk_id: str, number: int = 0, *, document: str = "d", before: str = "", after: str = "") -> ContextResult:
    return ContextResult(
        chunk_id=chunk_id,
        base_id="kb",
        tenant_id="default",
        document_id=document,
        chunk_index=number,
        content=chunk_id,
        score=0.9,
        kind=ScoreKind.COSINE,
        pre_chunk_id=before,
        next_chunk_id=after,
    )


@pytest.fixture(params=["sqlite", "postgres"])
async def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Shelf]:
    """Database and engine of one kind; PostgreSQL is a real one."""
    if request.param == "postgres":
        url = await request.getfixturevalue("postgres_server").create()
        database, engine = await SqlDatabase(url).open(), make_engine("postgres", address=url)
    else:
        database = await SqlDatabase(f"sqlite+aiosqlite:///{tmp_path}/opora.db").open()
        engine = make_engine("sqlite", path=tmp_path / "index.db")
    yield Shelf(database=database, engine=engine, vectoriser=HandVectoriser({}))
    await engine.close()
    await database.close()
