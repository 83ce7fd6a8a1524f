"""A whole installation in a folder: real database, files, splitter and null embedder; parser and engine in memory.

The stand-ins keep the promises of the ports and no more, so that a crash can be put between any two of their calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from opora.access import Access
from opora.domain.errors import NotFound, ParseFailed
from opora.domain.knowledge import Block, BlockKind, Document, IndexingStrategy, KnowledgeBase, ParsedDocument, Place
from opora.domain.scope import LOCAL_PRINCIPAL, Scope
from opora.domain.search import Capability, EngineHit, IndexRow
from opora.graph.embedded import EmbeddedGraph
from opora.index.difference import difference
from opora.ingest.split import StructureSplitter
from opora.jobs.ground import Ground
from opora.jobs.runner import JobRunner, Retries
from opora.knowledge.bases import Bases
from opora.knowledge.chunks import Chunks
from opora.knowledge.documents import Documents
from opora.models.null import NullEmbedder
from opora.models.single import SingleEmbedder
from opora.ports import Page, Vectors
from opora.store.blobs import FileBlobs
from opora.store.database import SqlDatabase
from opora.store.ids import new_id


class MemoryEngine:
    """Rows by chunk id; a search returns whatever holds the query as a word."""

    name = "memory"
    capabilities = frozenset({Capability.VECTOR, Capability.KEYWORD})

    def __init__(self) -> None:
        self.rows: dict[str, IndexRow] = {}
        self.born = new_id()

    async def write(self, scope: Scope, rows: Sequence[IndexRow]) -> None:
        for row in rows:
            assert scope.owner_of(row.base_id) == row.tenant_id
            old = self.rows.get(row.chunk_id)
            if row.vector is None and old is not None:
                row = replace(row, vector=old.vector, dimension=old.dimension)
            self.rows[row.chunk_id] = row

    async def search_vector(self, scope: Scope, vector: Vectors, *, top_k: int, threshold: float) -> list[EngineHit]:
        return []

    async def search_keyword(self, scope: Scope, query: str, *, top_k: int) -> list[EngineHit]:
        return []

    def found(self, word: str) -> set[str]:
        return {row.chunk_id for row in self.rows.values() if word in row.text and row.enabled}

    async def delete_chunks(self, scope: Scope, base_id: str, chunk_ids: Collection[str]) -> None:
        for chunk_id in chunk_ids:
            self.rows.pop(chunk_id, None)

    async def delete_documents(self, scope: Scope, base_id: str, document_ids: Collection[str]) -> None:
        self.rows = {key: row for key, row in self.rows.items() if row.document_id not in document_ids}

    async def delete_base(self, scope: Scope, base_id: str) -> None:
        self.rows = {key: row for key, row in self.rows.items() if row.base_id != base_id}

    async def set_enabled(self, scope: Scope, base_id: str, enabled: Mapping[str, bool]) -> None:
        for chunk_id, state in enabled.items():
            self.rows[chunk_id] = replace(self.rows[chunk_id], enabled=state)

    async def chunk_ids(self, scope: Scope, base_id: str, *, with_vector: bool = False) -> set[str]:
        mine = (row for row in self.rows.values() if row.base_id == base_id)
        return {row.chunk_id for row in mine if row.vector is not None or not with_vector}

    async def generation(self) -> str:
        return self.born

    async def close(self) -> None: ...


class PlainParser:
    """Paragraphs of UTF-8 text; a file that begins with DAMAGED can't be read."""

    async def parse(self, path: str, *, file_name: str) -> ParsedDocument:
        text = Path(path).read_text("utf-8")
        if text.startswith("DAMAGED"):
            raise ParseFailed("damaged_file", "The file is damaged.")
        blocks, start = [], 0
        for paragraph in filter(None, text.split("\n\n")):
            place = Place(start=start, end=start + len(paragraph))
            blocks.append(Block(kind=BlockKind.PARAGRAPH, text=paragraph, place=place))
            start += len(paragraph) + 2
        return ParsedDocument(blocks=tuple(blocks), file_type="txt", metadata={"encoding": "utf-8"})

    async def render_page(self, path: str, page: int, *, scale: float = 2.0) -> bytes:
        return b"PNG"

    async def close(self) -> None: ...


class Gate:
    """A port whose named method waits until it is let go; ``entered`` tells that somebody waits."""

    def __init__(self, port: Any, method: str) -> None:
        self._port = port
        self._method = method
        self.entered = asyncio.Event()
        self.open = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._port, name)
        if name != self._method:
            return real

        async def wait(*args: Any, **kw: Any) -> Any:
            self.entered.set()
            await self.open.wait()
            return await real(*args, **kw)

        return wait


class Failing:
    """A port whose named method fails so many times first."""

    def __init__(self, port: Any, method: str, error: Exception, times: int) -> None:
        self._port = port
        self._method = method
        self._error = error
        self.left = times

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._port, name)
        if name != self._method:
            return real

        async def fail(*args: Any, **kw: Any) -> Any:
            if self.left:
                self.left -= 1
                raise self._error
            return await real(*args, **kw)

        return fail


class World:
    """What survives a process (files, database, engine), and the process: `start` and `stop` begin and end one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.engine: Any = MemoryEngine()
        self.parser: Any = PlainParser()
        self.embedder: Any = NullEmbedder(8)
        self.splitter: Any = StructureSplitter()
        self.retries = Retries(first=0.0)
        self.wrap: Callable[[str, Any], Any] = lambda _name, port: port

    async def start(self, *, work: bool = True) -> None:
        self.database = await SqlDatabase(f"sqlite+aiosqlite:///{self.folder}/opora.db").open()
        self.blobs = FileBlobs(self.folder / "blobs")
        database, blobs = self.wrap("database", self.database), self.wrap("blobs", self.blobs)
        engine = self.wrap("engine", self.engine)
        self.access = Access(database)
        self.ground = Ground(
            database=database,
            engine=engine,
            blobs=blobs,
            parser=self.wrap("parser", self.parser),
            splitter=self.splitter,
            embedders=SingleEmbedder(self.embedder and self.wrap("embedder", self.embedder)),
            graph=EmbeddedGraph(database),
            scope_of=self.access.worker,
            clock=lambda: datetime.now(UTC),
            new_id=new_id,
        )
        self.runner = JobRunner(self.ground, retries=self.retries, batch=4)
        made = {"clock": self.ground.clock, "new_id": new_id}
        self.bases = Bases(database, self.runner, **made)
        self.documents = Documents(
            database, self.blobs, self.parser, engine, self.runner, upload_limit=1_000_000, **made
        )
        self.chunks = Chunks(database, engine, self.runner, **made)
        if work:
            await self.runner.start()

    async def stop(self) -> None:
        await self.runner.close()
        await self.database.close()

    async def restart(self) -> None:
        await self.stop()
        await self.start()

    def use(self, name: str, port: Any) -> None:
        """From the next start on, jobs reach this port in place of the real one."""
        self.wrap = lambda which, real: port if which == name else real

    def gate(self, name: str, method: str) -> Gate:
        gate = Gate(self.port(name), method)
        self.use(name, gate)
        return gate

    def failing(self, name: str, method: str, error: Exception, times: int, *, before: Any = None) -> Failing:
        failing = Failing(before or self.port(name), method, error, times)
        self.use(name, failing)
        return failing

    def port(self, name: str) -> Any:
        return FileBlobs(self.folder / "blobs") if name == "blobs" else getattr(self, name)

    async def add(self, base_id: str, text: str, **values: Any) -> Document:
        scope, values = await self.scope(base_id), {"file_name": "a.txt"} | values
        return await self.documents.add_file(scope, base_id, data=text.encode(), **values)

    async def settle(self, base_id: str, *documents: Document) -> list[Document]:
        ids = [document.document_id for document in documents]
        return await self.documents.wait(await self.scope(base_id), ids, timeout=20)

    async def base(self, **indexing: bool) -> KnowledgeBase:
        tenant = await self.access.tenant(LOCAL_PRINCIPAL)
        there = (await self.bases.browse(tenant, Page())).total
        return await self.bases.create(tenant, name=f"База {there}", indexing=IndexingStrategy(**indexing))

    async def scope(self, *base_ids: str) -> Scope:
        return await self.access.bases(LOCAL_PRINCIPAL, list(base_ids) or None, include_disabled=True)

    async def idle(self) -> None:
        async with asyncio.timeout(20):
            await self.runner.idle()

    async def searched(self, base_id: str, word: str) -> list[str]:
        """Contents that a search for a word shows: what the engine finds and the database holds."""
        scope = replace(await self.scope(base_id), include_disabled=False)
        async with self.database.read() as stored:
            found = await stored.chunks.hydrate(scope, self.engine.found(word))
        return sorted(result.content for result in found.values())

    async def check_sound(self, base_id: str) -> None:
        """Engine, database and files agree, nothing waits, nothing is left over."""
        scope = await self.scope(base_id)
        model = self.embedder.card.identity if self.embedder else None
        found = await difference(self.database, self.engine, scope, base_id, model)
        assert found.is_sound, found
        async with self.database.read() as stored:
            assert await stored.work.pending() == 0
            documents = await stored.documents.get_many(scope, await stored.documents.ids(scope))
            for document in documents.values():
                await self._check_document(stored, scope, document)
        assert [document_id for _, document_id in await self.blobs.stored()] == sorted(documents)

    async def _check_document(self, stored: Any, scope: Scope, document: Document) -> None:
        assert document.parse_status in ("completed", "failed")
        assert await stored.chunks.strays(scope, document.document_id) == set()
        ids = await stored.chunks.ids(scope.narrowed(document_ids=frozenset({document.document_id})))
        assert document.chunk_count == len(ids)
        await self.blobs.get(document.tenant_id, document.document_id, document.version)
        if document.indexed_version:
            await self.blobs.get(document.tenant_id, document.document_id, document.indexed_version, part="text")
            with pytest.raises(NotFound):
                await self.blobs.get(document.tenant_id, document.document_id, document.indexed_version - 1)
        else:
            assert ids == set()


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    world = World(tmp_path)
    await world.start()
    yield world
    await world.stop()


@pytest.fixture
async def new_world() -> AsyncIterator[Callable[[Path], World]]:
    """For tests that set up ports first, and start by themselves."""
    made: list[World] = []

    def make(folder: Path) -> World:
        made.append(World(folder))
        return made[-1]

    yield make
    for world in made:
        await world.stop()
