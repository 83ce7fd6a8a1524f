"""`kill -9` at twenty moments of an ingest of 200 files loses nothing and doubles nothing."""

from __future__ import annotations

import asyncio
import json
import random
import sys
from pathlib import Path

import pytest

from opora.access import Access
from opora.domain.knowledge import ParseStatus
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.engines.sqlite import SqliteEngine
from opora.index.difference import difference
from opora.ports import Page
from opora.store.blobs import FileBlobs
from opora.store.database import SqlDatabase

FILES = 200
KILLS = 20
SAME_BYTES = 10
DAMAGED = 5
EMPTY = 3
SEED = 20260102
MOST_STEPS = 24
"""Steps before a kill; all kills together need fewer than the steps of a whole ingest, so that each one happens."""


def write_files(folder: Path) -> dict[str, bytes]:
    folder.mkdir()
    files: dict[str, bytes] = {}
    for number in range(FILES):
        paragraphs = [f"Документ {number}, часть {part}: " + "слово " * 60 for part in range(1 + number % 4)]
        files[f"{number:03}.txt"] = (f"# Заголовок {number}\n\n" + "\n\n".join(paragraphs)).encode()
    names = sorted(files)
    for name in names[20 : 20 + SAME_BYTES]:
        files[name] = files[names[0]]
    for name in names[50 : 50 + DAMAGED]:
        files[name] = b"%PDF-1.7\n" + name.encode() + b"\n\x00\xff not a PDF at all"
    for number, name in enumerate(names[60 : 60 + EMPTY]):
        files[name] = b" " * number
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return files


@pytest.mark.slow
async def test_nothing_is_lost_or_doubled(tmp_path: Path) -> None:
    files = write_files(tmp_path / "files")
    data = tmp_path / "data"
    data.mkdir()
    chance = random.Random(SEED)
    plan = [(chance.randint(1, MOST_STEPS), chance.random() * 0.03) for _ in range(KILLS)]
    child = Path(__file__).with_name("kill_child.py")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(child), str(data), str(tmp_path / "files"), json.dumps(plan)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    killed = [json.loads(line)["killed"] for line in out.decode().splitlines()]
    assert killed == [True] * KILLS + [False]
    await check(data, files)


async def check(data: Path, files: dict[str, bytes]) -> None:
    database = await SqlDatabase(f"sqlite+aiosqlite:///{data}/opora.db").open()
    engine = SqliteEngine(data / "index.db")
    scope = await Access(database).bases(LOCAL_PRINCIPAL, include_disabled=True)
    [base] = scope.bases
    async with database.read() as stored:
        assert await stored.work.pending() == 0
        documents = (await stored.documents.browse(scope, Page(page_size=1000))).items
        assert sorted((data / "accepted").read_text().split()) == sorted(files)
        held = [(data / "blobs").rglob(f"{document.document_id}/1.original") for document in documents]
        contents = [path.read_bytes() for paths in held for path in paths]
        assert sorted(contents) == sorted(set(files.values())), "each accepted file once"
        for document in documents:
            chunks = (await stored.chunks.browse(scope, document.document_id, Page(page_size=1000))).items
            unreadable = files[document.file_name].startswith(b"%PDF") or not files[document.file_name].strip()
            expected = ParseStatus.FAILED if unreadable else ParseStatus.COMPLETED
            assert document.parse_status is expected, document
            assert [chunk.chunk_index for chunk in chunks] == list(range(document.chunk_count))
            assert bool(chunks) is not unreadable
            assert bool(document.error_message) is unreadable
            assert document.embedded_count == document.chunk_count
            text = "\n".join(chunk.content for chunk in chunks)
            parts = 0 if unreadable else files[document.file_name].decode().count("часть")
            assert [text.count(f"часть {part}:") >= 1 for part in range(parts)] == [True] * parts
    assert (await difference(database, engine, scope, base.base_id, "null-16")).is_sound
    assert {name for _, name in await FileBlobs(data / "blobs").stored()} == {item.document_id for item in documents}
    await engine.close()
    await database.close()
