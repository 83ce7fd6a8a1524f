"""What Opora adds to its engine in a hybrid search: ``python -m benchmarks.search_overhead``.

The whole search is `opora.retrieve.search.Search` over the real database and the real engine: bases looked up, both
arms, fusion, the text of the results read. The query's vector is given. The engine's two arms are run at once by
themselves for the same question, and the difference of each pair is Opora's own addition. Recall is that of the
vector arm through the whole search, against an exact scan.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from benchmarks.made_up import DIMENSION, Matrix, texts, units
from benchmarks.measuring import p50, p95, run_as_served, table
from opora.domain.knowledge import Chunk, Document, KnowledgeBase, ParseStatus
from opora.domain.scope import LOCAL_PRINCIPAL, BaseRef, Scope
from opora.domain.search import IndexRow, SearchMode, SearchRequest
from opora.engines.directory import EngineDirectory
from opora.engines.sqlite import SqliteEngine
from opora.models.single import SingleEmbedder
from opora.ports import EmbedderCard, Vectors
from opora.retrieve.search import Search
from opora.retrieve.targets import pool_size
from opora.store.database import SqlDatabase

SIZES = (10_000, 100_000)
QUERIES = 40
MATCHES = 10
"""What a door gives when nothing is said."""
SMALL_SHARE = 50
"""The small base holds one chunk of so many."""
CHUNKS_A_DOCUMENT = 500
NOW = datetime(2026, 1, 1, tzinfo=UTC)
TENANT = LOCAL_PRINCIPAL.tenant_id


class Given:
    """An embedder whose vectors are there already."""

    card = EmbedderCard(identity="given", dimension=DIMENSION, max_tokens=512, vector_threshold=0.0)

    def __init__(self, vectors: Mapping[str, Vectors]) -> None:
        self._vectors = vectors

    async def embed_query(self, text: str) -> Vectors:
        return self._vectors[text]

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._vectors[text] for text in texts])

    async def close(self) -> None: ...


def scope_of(base_id: str) -> Scope:
    return Scope(principal=LOCAL_PRINCIPAL, bases=(BaseRef(base_id=base_id, tenant_id=TENANT),))


@dataclass(slots=True)
class House:
    database: SqlDatabase
    engine: SqliteEngine

    async def fill(self, base_id: str, vectors: Matrix, contents: Sequence[str]) -> None:
        """A base whose documents hold `CHUNKS_A_DOCUMENT` chunks each, in the database and in the engine."""
        base = KnowledgeBase(base_id=base_id, tenant_id=TENANT, name=base_id, created_at=NOW, updated_at=NOW)
        async with self.database.begin() as stored:
            await stored.bases.add(base)
        for start in range(0, len(contents), CHUNKS_A_DOCUMENT):
            part = range(start, min(start + CHUNKS_A_DOCUMENT, len(contents)))
            chunks = [_chunk(base_id, number, contents[number]) for number in part]
            async with self.database.begin() as stored:
                await stored.documents.add(scope_of(base_id), _document(base_id, start))
                await stored.chunks.replace_document(scope_of(base_id), _document(base_id, start), chunks)
            rows = [_row(chunk, vectors[number]) for chunk, number in zip(chunks, part, strict=True)]
            await self.engine.write(scope_of(base_id), rows)


def _document(base_id: str, start: int) -> Document:
    number = start // CHUNKS_A_DOCUMENT
    return Document(
        document_id=f"{base_id}-{number}",
        base_id=base_id,
        tenant_id=TENANT,
        title=f"Document {number}",
        file_name=f"{number}.txt",
        file_type="txt",
        file_size=1,
        file_hash=f"{base_id}-{number}",
        parse_status=ParseStatus.COMPLETED,
        created_at=NOW,
        updated_at=NOW,
    )


def _chunk(base_id: str, number: int, content: str) -> Chunk:
    return Chunk(
        chunk_id=f"{base_id}-{number:07}",
        base_id=base_id,
        tenant_id=TENANT,
        document_id=f"{base_id}-{number // CHUNKS_A_DOCUMENT}",
        chunk_index=number % CHUNKS_A_DOCUMENT,
        content=content,
    )


def _row(chunk: Chunk, vector: Vectors) -> IndexRow:
    return IndexRow(
        chunk_id=chunk.chunk_id,
        base_id=chunk.base_id,
        tenant_id=TENANT,
        document_id=chunk.document_id,
        text=chunk.content,
        vector=vector.tobytes(),
        dimension=DIMENSION,
    )


@dataclass(slots=True)
class Asked:
    """The prepared questions, and a search that is given their vectors."""

    engine: SqliteEngine
    search: Search
    questions: list[str]
    vectors: Matrix

    async def whole(self, base_id: str, place: int, mode: SearchMode = SearchMode.HYBRID) -> list[str]:
        request = SearchRequest(query=self.questions[place], match_count=MATCHES, mode=mode)
        return [result.chunk_id for result in (await self.search.search(scope_of(base_id), request)).results]

    async def arms(self, base_id: str, place: int) -> None:
        scope, top_k = scope_of(base_id), pool_size(MATCHES, 1)
        await asyncio.gather(
            self.engine.search_vector(scope, self.vectors[place], top_k=top_k, threshold=0.0),
            self.engine.search_keyword(scope, self.questions[place], top_k=top_k),
        )

    async def times(self, base_id: str) -> dict[str, float]:
        """Each question once by each way; which way comes first changes from question to question."""
        await self.whole(base_id, 0)
        taken: dict[str, list[float]] = {"whole": [], "arms": []}
        worked: dict[str, list[float]] = {"whole": [], "arms": []}
        for place in range(len(self.questions)):
            ways = (("whole", self.whole), ("arms", self.arms))
            for name, way in ways if place % 2 else ways[::-1]:
                begun, before = time.perf_counter(), time.process_time()
                await way(base_id, place)
                worked[name].append((time.process_time() - before) * 1000)
                taken[name].append((time.perf_counter() - begun) * 1000)
        return {
            "whole_p50_ms": p50(taken["whole"]),
            "whole_p95_ms": p95(taken["whole"]),
            "engine_p50_ms": p50(taken["arms"]),
            "own_addition_p50_ms": _difference(taken),
            "own_processor_p50_ms": _difference(worked),
            "ratio_to_engine": p50(taken["whole"]) / p50(taken["arms"]),
        }

    async def recall(self, base_id: str, vectors: Matrix) -> float:
        """Share of the ten nearest of an exact scan that the search by meaning gives."""
        found = []
        for place, query in enumerate(self.vectors):
            exact = np.argsort(-np.vecdot(vectors, query))[:MATCHES]
            ids = await self.whole(base_id, place, SearchMode.SEMANTIC)
            found.append(len(set(ids) & {f"{base_id}-{number:07}" for number in exact}) / MATCHES)
        return statistics.mean(found)


def _difference(taken: Mapping[str, Sequence[float]]) -> float:
    return p50([whole - arms for whole, arms in zip(taken["whole"], taken["arms"], strict=True)])


async def measure(rows: int, *, queries: int = QUERIES) -> dict[str, dict[str, float]]:
    """Figures for a base of ``rows`` chunks and for one of a fiftieth beside it."""
    rng = np.random.default_rng(7)
    vectors = {"whole": units(rng, rows), "small": units(rng, rows // SMALL_SHARE)}
    given, questions = units(rng, queries), texts(rng, queries, words=6)
    with tempfile.TemporaryDirectory(prefix="opora-bench-") as folder:
        database = await SqlDatabase(f"sqlite+aiosqlite:///{folder}/opora.db").open()
        house = House(database, SqliteEngine(Path(folder) / "index.db"))
        search = Search(
            database=database,
            engines=EngineDirectory({"sqlite": house.engine}, default="sqlite"),
            embedders=SingleEmbedder(Given(dict(zip(questions, given, strict=True)))),
        )
        for base_id, matrix in vectors.items():
            await house.fill(base_id, matrix, texts(rng, len(matrix)))
        asked = Asked(house.engine, search, questions, given)
        results = {}
        for base_id, name in (("whole", f"{rows} chunks"), ("small", f"2% base beside {rows}")):
            recall = await asked.recall(base_id, vectors[base_id])
            results[name] = await asked.times(base_id) | {"recall_at_10": recall}
        await house.engine.close()
        await database.close()
    return results


def run(*, sizes: Sequence[int] = SIZES, queries: int = QUERIES) -> dict[str, dict[str, float]]:
    """Figures by base; milliseconds."""
    results: dict[str, dict[str, float]] = {}
    for rows in sizes:
        results |= run_as_served(measure(rows, queries=queries))
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default=",".join(map(str, SIZES)), help="sizes, separated by commas")
    parser.add_argument("--queries", type=int, default=QUERIES)
    arguments = parser.parse_args()
    print(table(run(sizes=[int(rows) for rows in arguments.rows.split(",")], queries=arguments.queries)))


if __name__ == "__main__":
    main()
