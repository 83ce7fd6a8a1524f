"""How fast documents are taken in, through the real parser and database: ``python -m benchmarks.ingest_speed``.

A null embedder shows what Opora itself costs; its speed should not fall as the base grows. The local model, where it
is installed, shows what share of the model's own speed is left. One 50 MB file shows the memory that is needed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.measuring import table
from opora.access import Access
from opora.domain.scope import LOCAL_PRINCIPAL, Scope
from opora.engines.sqlite import SqliteEngine
from opora.ingest.split import StructureSplitter
from opora.ingest.worker import ChildParser
from opora.jobs.ground import Ground
from opora.jobs.runner import JobRunner
from opora.knowledge.bases import Bases
from opora.knowledge.documents import Documents
from opora.models.null import NullEmbedder
from opora.ports import Embedder
from opora.store.blobs import FileBlobs
from opora.store.database import SqlDatabase
from opora.store.ids import new_id

SIZES = (100, 200, 400)
PARAGRAPHS = 12
WORDS = 55
LARGE_BYTES = 50_000_000
MODEL_DOCUMENTS = 4
MIB = 1024 * 1024
_SYLLABLES = "ба ве го ду жи за ка ли мо ну по ре са ти фа хо це ша ще ят".split()  # noqa: SIM905


def now() -> datetime:
    return datetime.now(UTC)


def paragraph(chance: random.Random) -> str:
    words = ("".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(WORDS))
    return " ".join(words).capitalize() + "."


def document(number: int) -> bytes:
    chance = random.Random(number)
    parts = [f"# Документ {number}", *(paragraph(chance) for _ in range(PARAGRAPHS))]
    return "\n\n".join(parts).encode()


class Installation:
    """Everything that an ingest goes through, without edges."""

    def __init__(self, ground: Ground, documents: Documents, runner: JobRunner, scope: Scope) -> None:
        self.ground = ground
        self.documents = documents
        self.runner = runner
        self.scope = scope

    async def take_in(self, files: Sequence[tuple[str, bytes]]) -> dict[str, float]:
        begun = time.perf_counter()
        base_id = self.scope.bases[0].base_id
        for name, data in files:
            await self.documents.add_file(self.scope, base_id, file_name=name, data=data)
        await self.runner.idle()
        seconds = time.perf_counter() - begun
        async with self.ground.database.read() as stored:
            chunks = len(await stored.chunks.ids(self.scope))
        return {"seconds": seconds, "chunks": chunks, "documents_s": len(files) / seconds, "chunks_s": chunks / seconds}


@asynccontextmanager
async def installation(embedder: Embedder) -> AsyncIterator[Installation]:
    with tempfile.TemporaryDirectory(prefix="opora-bench-") as folder:
        data = Path(folder)
        database = await SqlDatabase(f"sqlite+aiosqlite:///{data}/opora.db").open()
        engine, parser, blobs = SqliteEngine(data / "index.db"), ChildParser(), FileBlobs(data / "blobs")
        access = Access(database)
        ground = Ground(
            database=database,
            engine=engine,
            blobs=blobs,
            parser=parser,
            splitter=StructureSplitter(),
            embedder=embedder,
            scope_of=access.worker,
            clock=now,
            new_id=new_id,
        )
        runner = JobRunner(ground)
        documents = Documents(
            database, blobs, parser, engine, runner, clock=now, new_id=new_id, upload_limit=2 * LARGE_BYTES
        )
        bases = Bases(database, runner, clock=now, new_id=new_id)
        await bases.create(await access.tenant(LOCAL_PRINCIPAL), name="bench")
        await runner.start()
        try:
            yield Installation(ground, documents, runner, await access.bases(LOCAL_PRINCIPAL))
        finally:
            await runner.close()
            await parser.close()
            await engine.close()
            await database.close()


async def measure(documents: int, embedder: Embedder) -> dict[str, float]:
    files = [(f"{number}.md", document(number)) for number in range(documents)]
    async with installation(embedder) as here:
        await here.take_in([("warm.md", document(-1))])
        return await here.take_in(files)


async def measure_large(size: int) -> dict[str, float]:
    """Peak memory of this process and of the parser's, which is why this runs in a process of its own."""
    chance = random.Random(7)
    block = "\n\n".join(paragraph(chance) for _ in range(500)).encode() + b"\n\n"
    data = b"".join(b"# %d\n\n%b" % (number, block) for number in range(size // len(block) + 1))[:size]
    async with installation(NullEmbedder()) as here:
        figures = await here.take_in([("large.txt", data)])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {**figures, "megabytes": size / 1e6, "peak_mib": peak, "parser_peak_mib": child}


async def measure_model(documents: int, folder: Path) -> dict[str, float]:
    """The local model: texts a second by itself, and through a whole ingest of the same texts."""
    from opora.models.local_e5 import LocalE5

    embedder = LocalE5(folder)
    try:
        async with installation(embedder) as here:
            await embedder.embed_passages([paragraph(random.Random(0))])
            files = [(f"{number}.md", document(number)) for number in range(documents)]
            through = await here.take_in(files)
            async with here.ground.database.read() as stored:
                chunks = await stored.chunks.get_many(here.scope, await stored.chunks.ids(here.scope))
            texts = [chunks[key].search_text for key in sorted(chunks)]
            begun = time.perf_counter()
            await embedder.embed_passages(texts)
            raw = len(texts) / (time.perf_counter() - begun)
    finally:
        await embedder.close()
    return {"texts": len(texts), "raw_texts_s": raw, "ingest_texts_s": through["chunks_s"]} | {
        "share": through["chunks_s"] / raw
    }


def default_model_folder() -> Path:
    """Where the files that the model builds once are kept between runs."""
    from platformdirs import user_cache_path

    return user_cache_path("opora", appauthor=False) / "models"


def run(
    *, sizes: Sequence[int] = SIZES, large_bytes: int = LARGE_BYTES, model_documents: int = MODEL_DOCUMENTS
) -> dict[str, Any]:
    """All figures; 0 leaves the large file or the model out. ``linearity`` is chunks a second of the largest run by
    those of the smallest: 1 is perfectly linear."""
    results: dict[str, Any] = {f"{size} documents": asyncio.run(measure(size, NullEmbedder())) for size in sizes}
    speeds = [figures["chunks_s"] for figures in results.values()]
    results["linearity"] = {"chunks_s ratio": speeds[-1] / speeds[0]}
    if large_bytes:
        command = [sys.executable, "-m", "benchmarks.ingest_speed", "--large-only", str(large_bytes)]
        results["large file"] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    if model_documents:
        results["local model"] = asyncio.run(measure_model(model_documents, default_model_folder()))
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--large", type=int, default=LARGE_BYTES, help="bytes of the large file, 0 for none")
    parser.add_argument("--model", type=int, default=MODEL_DOCUMENTS, help="documents for the model, 0 for none")
    parser.add_argument("--large-only", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.large_only:
        print(json.dumps(asyncio.run(measure_large(given.large_only))))
        return
    print(table(run(sizes=given.sizes, large_bytes=given.large, model_documents=given.model)))


if __name__ == "__main__":
    main()
