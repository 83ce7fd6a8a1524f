"""How many documents workers of their own take in: ``python -m benchmarks.worker_speed``.

A real PostgreSQL, Redis and NATS on this machine, processes of ``opora worker`` with an embedder without a model, and
documents of about ten chunks, each a text of its own. Timed from the first document that is brought in, while workers
wait, until the last one is complete. The processes share the machine's cores with the three servers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from benchmarks.measuring import table
from benchmarks.nats_process import nats_process
from benchmarks.redis_process import redis_process
from opora.bootstrap import App
from opora.domain.roles import Role
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.settings import Settings

DOCUMENTS = 200
WORKERS = (1, 2, 4)
PARAGRAPHS = 10


async def measure(*, workers: int, documents: int) -> dict[str, float]:
    import pgserver

    async with AsyncExitStack() as stack:
        folder = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="opora-bench-", ignore_cleanup_errors=True))
        )
        (folder / "run").mkdir()
        os.environ.setdefault("XDG_RUNTIME_DIR", str(folder / "run"))
        server = pgserver.get_server(str(folder / "pg"), cleanup_mode="delete")
        stack.callback(server.cleanup)
        server.psql("CREATE DATABASE opora")
        values = {
            "OPORA_SHARED": str(folder / "shared"),
            "OPORA_DATABASE_URL": f"postgresql://postgres@/opora?host={folder / 'pg'}",
            "RETRIEVE_DRIVER": "postgres",
            "STREAM_MANAGER_TYPE": "redis",
            "REDIS_URL": stack.enter_context(redis_process()),
            "NATS_URL": stack.enter_context(nats_process()),
            "OPORA_EMBEDDING": "null",
        }
        app = await App.open(_settings(folder / "front", values))
        stack.push_async_callback(app.close)
        for number in range(workers):
            process = await _worker(folder / f"worker{number}", values)
            stack.push_async_callback(process.wait)
            stack.callback(process.terminate)
        base = await app.bases.create(await app.access.tenant(LOCAL_PRINCIPAL), name="bench")
        scope = await app.access.bases(LOCAL_PRINCIPAL, [base.base_id])
        begun = time.perf_counter()
        made = [
            await app.documents.add_text(scope, base.base_id, title=f"Text {n}", content=_text(n))
            for n in range(documents)
        ]
        brought = time.perf_counter() - begun
        done = await app.documents.wait(scope, [one.document_id for one in made], timeout=600)
        taken = time.perf_counter() - begun
    assert all(one.parse_status == "completed" for one in done)
    return {"documents": documents, "brought_in_s": brought, "documents_s": documents / taken}


def _settings(folder: Path, values: Mapping[str, str]) -> Settings:
    names = {"OPORA_SHARED": "shared", "OPORA_DATABASE_URL": "database_url", "OPORA_EMBEDDING": "embedding"}
    given = {names.get(name, name): value for name, value in values.items()}
    return Settings.model_validate({**given, "data": folder, "role": Role.RETRIEVER})


async def _worker(folder: Path, values: Mapping[str, str]) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "opora.cli", "worker"),
        env={**os.environ, **values, "OPORA_DATA": str(folder)},
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    await process.stdout.readline()
    return process


def _text(number: int) -> str:
    paragraphs = [
        f"# Part {part}\n\n" + f"Text {number} says in its part {part} how travel costs are paid back. " * 6
        for part in range(PARAGRAPHS)
    ]
    return "\n\n".join(paragraphs)


def run(*, workers: Sequence[int] = WORKERS, documents: int = DOCUMENTS) -> dict[str, Any]:
    figures: dict[str, dict[str, float]] = {
        f"{count} workers": asyncio.run(measure(workers=count, documents=documents)) for count in workers
    }
    first = next(iter(figures.values()))["documents_s"]
    for one in figures.values():
        one["times_the_first"] = one["documents_s"] / first
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=list(WORKERS))
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    given = parser.parse_args()
    results = run(workers=given.workers, documents=given.documents)
    print(table(results))
    print(json.dumps(results))


if __name__ == "__main__":
    main()
