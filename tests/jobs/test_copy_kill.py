"""`kill -9` in the middle of copying a base leaves nothing half visible, and the next start ends the copy."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sqlite3
import sys
from pathlib import Path

import pytest

from opora.access import Access
from opora.domain.bases import copied_id
from opora.domain.errors import NotFound
from opora.domain.scope import LOCAL_PRINCIPAL, Scope
from opora.engines.sqlite import SqliteEngine
from opora.index.difference import difference
from opora.models.null import NullEmbedder
from opora.ports import Page
from opora.store.blobs import FileBlobs
from opora.store.database import SqlDatabase

from .copy_kill_child import DOCUMENTS

KILLS = (("files", 1), ("rows", 2), ("commit", 1), ("rows", 1), ("commit", 2), ("shown", 1))


async def test_a_copy_is_whole_or_not_there(tmp_path: Path) -> None:
    data = tmp_path / "data"
    for where, count in KILLS:
        assert await run(data, where, count) == -signal.SIGKILL
        await check_unseen(data)
    assert await run(data, "end", 0) == 0
    database = await SqlDatabase(f"sqlite+aiosqlite:///{data}/opora.db").open()
    engine = SqliteEngine(data / "index.db")
    try:
        await check_whole(data, database, engine)
    finally:
        await engine.close()
        await database.close()


async def run(data: Path, where: str, count: int) -> int:
    child = Path(__file__).with_name("copy_kill_child.py")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(child), str(data), where, str(count)), stderr=asyncio.subprocess.PIPE
    )
    _, errors = await process.communicate()
    assert process.returncode is not None, errors.decode()
    return process.returncode


async def check_unseen(data: Path) -> None:
    with contextlib.closing(sqlite3.connect(data / "opora.db")) as plain:
        ((target,),) = plain.execute("SELECT target_id FROM base_copies").fetchall()
    database = await SqlDatabase(f"sqlite+aiosqlite:///{data}/opora.db").open()
    try:
        access = Access(database)
        scope = await access.bases(LOCAL_PRINCIPAL, include_disabled=True)
        async with database.read() as stored:
            (base,) = (await stored.bases.browse(scope.tenant_id, Page())).items
            documents = await stored.documents.browse(scope, Page(page_size=100))
        assert (base.name, documents.total) == ("kill", DOCUMENTS)
        with pytest.raises(NotFound):
            await access.bases(LOCAL_PRINCIPAL, [target])
        for document in documents.items:
            with pytest.raises(NotFound):
                await access.document(LOCAL_PRINCIPAL, copied_id(target, document.document_id))
    finally:
        await database.close()


async def check_whole(data: Path, database: SqlDatabase, engine: SqliteEngine) -> None:
    whole = await Access(database).bases(LOCAL_PRINCIPAL, include_disabled=True)
    assert len(whole.bases) == 2
    async with database.read() as stored:
        assert await stored.work.pending() == 0
        by_name = {one.name: one.base_id for one in (await stored.bases.browse(whole.tenant_id, Page())).items}
        for old in (await stored.documents.browse(only(whole, by_name["kill"]), Page(page_size=100))).items:
            new = await stored.documents.get(whole, copied_id(by_name["copy"], old.document_id))
            assert (new.parse_status, new.chunk_count, new.embedded_count) == ("completed", 4, 4)
            said = [
                [chunk.content for chunk in (await stored.chunks.browse(whole, one.document_id, Page())).items]
                for one in (old, new)
            ]
            assert said[0] == said[1]
            blobs = FileBlobs(data / "blobs")
            files = [await blobs.get(one.tenant_id, one.document_id, 1) for one in (old, new)]
            assert files[0] == files[1]
        documents = await stored.documents.ids(whole)
    assert sorted(name for _, name in await FileBlobs(data / "blobs").stored()) == documents
    for base_id in by_name.values():
        identity = NullEmbedder(16).card.identity
        assert (await difference(database, engine, only(whole, base_id), base_id, identity)).is_sound
        assert len(await engine.chunk_ids(whole, base_id, with_vector=True)) == 4 * DOCUMENTS


def only(scope: Scope, base_id: str) -> Scope:
    return scope.narrowed(base_ids=(base_id,))
