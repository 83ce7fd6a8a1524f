"""What the engine lost is written again, what belongs to nothing is taken out, and nothing else is touched."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from opora.domain.knowledge import Chunk, Document, KnowledgeBase
from opora.domain.work import Work, WorkKind
from opora.index.difference import difference
from opora.index.writer import index_row
from opora.jobs import mend
from opora.models.null import NullEmbedder
from opora.ports import Page
from opora.store.ids import new_id

TEXT = "\n\n".join(f"Абзац {number}: " + f"слово{number} " * 40 for number in range(8))


class Counting(NullEmbedder):
    def __init__(self) -> None:
        super().__init__(8)
        self.embedded: list[str] = []

    async def embed_passages(self, texts: Any) -> Any:
        self.embedded += texts
        return await super().embed_passages(texts)


@pytest.fixture
async def world(new_world: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(mend, "QUIET_SECONDS", 0)
    world = new_world(tmp_path)
    world.embedder = Counting()
    await world.start()
    return world


async def filled(world: Any) -> tuple[KnowledgeBase, Document, list[Chunk]]:
    base = await world.base()
    document = await world.add(base.base_id, TEXT)
    await world.settle(base.base_id, document)
    await world.idle()
    async with world.database.read() as stored:
        scope = await world.scope(base.base_id)
        document = await stored.documents.get(scope, document.document_id)
        chunks = list((await stored.chunks.browse(scope, document.document_id, Page(page_size=100))).items)
        base = (await stored.bases.find(base.tenant_id, [base.base_id]))[0]
    world.embedder.embedded.clear()
    return base, document, chunks


async def mended(world: Any, base: KnowledgeBase) -> None:
    now = world.ground.clock()
    work = Work(
        work_id=new_id(),
        kind=WorkKind.MEND_BASE,
        tenant_id=base.tenant_id,
        base_id=base.base_id,
        subject=base.base_id,
        not_before=now,
        created_at=now,
    )
    async with world.database.begin() as stored:
        await stored.work.add(work)
    world.runner.wake()
    await world.idle()


async def test_both_directions_are_mended(world: Any) -> None:
    base, document, chunks = await filled(world)
    lost, blind = chunks[1], chunks[3]
    del world.engine.rows[lost.chunk_id]
    row = world.engine.rows[blind.chunk_id]
    world.engine.rows[blind.chunk_id] = replace(row, vector=None, dimension=0)
    world.engine.rows["stray"] = replace(row, chunk_id="stray")
    await mended(world, base)
    await world.check_sound(base.base_id)
    assert sorted(world.embedder.embedded) == sorted([lost.search_text, blind.search_text])
    scope = await world.scope(base.base_id)
    assert (await world.documents.get(scope, document.document_id)).parse_status == "completed"


async def test_a_sound_base_is_left_alone(world: Any) -> None:
    base, document, _ = await filled(world)
    rows = dict(world.engine.rows)
    await mended(world, base)
    assert world.engine.rows == rows
    assert world.embedder.embedded == []
    scope = await world.scope(base.base_id)
    assert await world.documents.get(scope, document.document_id) == document


async def test_an_engine_that_holds_nothing_is_filled(world: Any) -> None:
    base, _, chunks = await filled(world)
    world.engine.rows.clear()
    await mended(world, base)
    await world.check_sound(base.base_id)
    assert len(world.embedder.embedded) == len(chunks)


async def test_another_base_is_not_touched(world: Any) -> None:
    base, _, _ = await filled(world)
    other, _, chunks = await filled(world)
    del world.engine.rows[chunks[0].chunk_id]
    await mended(world, base)
    assert chunks[0].chunk_id not in world.engine.rows
    await mended(world, other)
    scope = await world.scope(other.base_id)
    model = world.embedder.card.identity
    assert (await difference(world.database, world.engine, scope, other.base_id, model)).is_sound


def hook(port: Any, name: str, do: Callable[[], Awaitable[None]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Have something happen just before a call."""
    real = getattr(port, name)

    async def hooked(*args: Any, **options: Any) -> Any:
        monkeypatch.setattr(port, name, real)
        await do()
        return await real(*args, **options)

    monkeypatch.setattr(port, name, hooked)


@pytest.mark.parametrize("moment", ["between the looks", "while it is taken out"])
async def test_a_row_that_is_just_being_written_ends_where_the_database_says(
    world: Any, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    base, document, chunks = await filled(world)
    scope = await world.scope(base.base_id)
    coming = replace(chunks[0], chunk_id="coming", content="новое", chunk_index=len(chunks))
    world.engine.rows["coming"] = index_row(coming, base.indexing)

    async def switch() -> None:
        async with world.database.begin() as stored:
            await stored.chunks.put(scope, document, [coming])
            count = replace(document, chunk_count=document.chunk_count + 1)
            await stored.documents.update(scope, count)

    if moment == "between the looks":
        hook(mend.asyncio, "sleep", switch, monkeypatch)
    else:
        hook(world.engine, "delete_chunks", switch, monkeypatch)
    await mended(world, base)
    await world.check_sound(base.base_id)
    assert "coming" in world.engine.rows
