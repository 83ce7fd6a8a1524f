"""Takes a folder of files in, in processes that kill themselves (SIGKILL) at given moments, and once to the end.

Run as a program: ``kill_child.py DATA FILES PLAN``. The plan is a JSON list of pairs: after how many steps of progress
a process dies, and how many seconds after that step. Each process is a fork of this one, which saves the imports.
Names of files that were answered are appended to DATA/accepted, as a client would remember them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

from opora.access import Access
from opora.domain.errors import Conflict
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.engines.sqlite import SqliteEngine
from opora.graph.embedded import EmbeddedGraph
from opora.ingest.split import StructureSplitter
from opora.ingest.worker import ChildParser
from opora.jobs.ground import Ground
from opora.jobs.runner import JobRunner
from opora.knowledge.bases import Bases
from opora.knowledge.documents import Documents
from opora.models.null import NullEmbedder
from opora.models.single import SingleEmbedder
from opora.store.blobs import FileBlobs
from opora.store.database import SqlDatabase
from opora.store.ids import new_id


class Doom:
    """Counts steps and ends the process some time after the last one."""

    def __init__(self, steps: int, delay: float) -> None:
        self._left = steps
        self._delay = delay

    def step(self) -> None:
        self._left -= 1
        if self._left == 0:
            timer = threading.Timer(self._delay, os.kill, (os.getpid(), signal.SIGKILL))
            timer.daemon = True
            timer.start()


def now() -> datetime:
    return datetime.now(UTC)


async def main(data: Path, files: Path, doom: Doom) -> None:
    database = await SqlDatabase(f"sqlite+aiosqlite:///{data}/opora.db").open()
    engine, parser = SqliteEngine(data / "index.db"), ChildParser(children=1)
    blobs, access = FileBlobs(data / "blobs"), Access(database)
    ground = Ground(
        database=database,
        engine=engine,
        blobs=blobs,
        parser=parser,
        splitter=StructureSplitter(),
        embedders=SingleEmbedder(NullEmbedder(16)),
        graph=EmbeddedGraph(database),
        scope_of=access.worker,
        clock=now,
        new_id=new_id,
    )
    runner = JobRunner(ground)
    bases = Bases(database, runner, clock=now, new_id=new_id)
    documents = Documents(database, blobs, parser, engine, runner, clock=now, new_id=new_id, upload_limit=10**6)
    await runner.start()
    watcher = asyncio.create_task(watch(runner, doom))
    scope = await access.bases(LOCAL_PRINCIPAL)
    if not scope.bases:
        await bases.create(scope, name="kill")
        scope = await access.bases(LOCAL_PRINCIPAL)
    await send(documents, scope, files, data / "accepted", doom)
    await runner.idle()
    watcher.cancel()
    await runner.close()
    await parser.close()
    await engine.close()
    await database.close()


async def watch(runner: JobRunner, doom: Doom) -> None:
    seen = runner.changes
    while True:
        seen = await runner.changed(seen)
        doom.step()


async def send(documents: Documents, scope: object, files: Path, accepted: Path, doom: Doom) -> None:
    answered = set(accepted.read_text().split("\n")) if accepted.exists() else set()
    with accepted.open("a") as log:
        for path in sorted(files.iterdir()):
            if path.name in answered:
                continue
            with contextlib.suppress(Conflict):
                await documents.add_file(
                    scope, scope.bases[0].base_id, file_name=path.name, data=path.read_bytes(), source=path.name
                )
            log.write(path.name + "\n")
            log.flush()
            doom.step()


def run() -> int:
    data, files, plan = Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])
    for steps, delay in [*plan, (-1, 0.0)]:
        child = os.fork()
        if child == 0:
            asyncio.run(main(data, files, Doom(steps, delay)))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        print(json.dumps({"killed": killed, "status": status}), flush=True)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(run())
