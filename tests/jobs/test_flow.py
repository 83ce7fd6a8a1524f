"""Documents travel from bytes to searched chunks, words first, and end with a reason where they can not."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from opora.domain.errors import Conflict, NotFound, Timeout
from opora.domain.knowledge import ParseStatus
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.ports import Page

LONG = "\n\n".join(f"Абзац {number}: " + f"слово{number} " * 40 for number in range(30))


async def test_a_document_becomes_searchable(world: Any) -> None:
    base = await world.base()
    document = await world.add(base.base_id, LONG, file_name="Отчёт за май.txt", metadata={"автор": "Я"})
    assert document.parse_status is ParseStatus.PENDING
    [done] = await world.settle(base.base_id, document)
    await world.idle()
    assert (done.parse_status, done.title, done.file_type) == (ParseStatus.COMPLETED, "Отчёт за май", "txt")
    assert done.metadata == {"автор": "Я", "encoding": "utf-8"}
    assert done.chunk_count == done.embedded_count > 10
    assert (done.version, done.indexed_version) == (1, 1)
    assert await world.searched(base.base_id, "слово7 ")
    scope = await world.scope(base.base_id)
    text = await world.documents.text(scope, done.document_id)
    for chunk in (await world.chunks.browse(scope, done.document_id, Page(page_size=100))).items:
        assert text[chunk.place.start : chunk.place.end].strip() in chunk.content
    assert (await world.bases.get(scope, base.base_id)).embedding_model_id == "null-8"
    await world.check_sound(base.base_id)


async def test_words_are_found_before_vectors_and_small_documents_do_not_wait(new_world: Any, tmp_path: Any) -> None:
    world = new_world(tmp_path)
    gate = world.gate("embedder", "embed_passages")
    await world.start()
    base = await world.base()
    large = await world.add(base.base_id, LONG)
    await gate.entered.wait()
    assert await world.searched(base.base_id, "слово7 ")
    small = await world.add(base.base_id, "маленький документ")
    seen = world.runner.changes
    while not await world.searched(base.base_id, "маленький"):
        seen = await world.runner.changed(seen)
    scope = await world.scope(base.base_id)
    assert (await world.documents.progress(scope, large.document_id)).seconds_left is None
    with pytest.raises(Timeout) as caught:
        await world.documents.wait(scope, [large.document_id, small.document_id], timeout=0.01)
    assert caught.value.details["document_ids"] == [large.document_id, small.document_id]
    gate.open.set()
    assert [doc.parse_status for doc in await world.settle(base.base_id, large, small)] == ["completed"] * 2
    progress = await world.documents.progress(scope, large.document_id)
    assert (progress.embedded, progress.seconds_left) == (progress.chunks, 0.0)
    await world.idle()
    await world.check_sound(base.base_id)


async def test_progress_estimates_when(new_world: Any, tmp_path: Any) -> None:
    world = new_world(tmp_path)
    await world.start()
    base = await world.base()
    await world.settle(base.base_id, await world.add(base.base_id, "первый"))
    await world.idle()
    gate = world.gate("embedder", "embed_passages")
    pace = world.runner._pace
    await world.restart()
    world.runner._pace.record(10, 20.0)
    assert pace.seconds_for(1) is not None
    document = await world.add(base.base_id, LONG)
    await gate.entered.wait()
    progress = await world.documents.progress(await world.scope(base.base_id), document.document_id)
    assert progress.seconds_left == pytest.approx(2.0 * progress.chunks)
    gate.open.set()
    await world.idle()


@pytest.mark.parametrize(
    ("text", "reason"), [("DAMAGED bytes", "damaged_file"), ("", "no_text"), (" \n\n ", "no_text")]
)
async def test_what_cannot_be_read_says_why(world: Any, text: str, reason: str) -> None:
    base = await world.base()
    [failed] = await world.settle(base.base_id, await world.add(base.base_id, text))
    assert (failed.parse_status, failed.error_reason) == (ParseStatus.FAILED, reason)
    assert failed.error_message
    with pytest.raises(NotFound):
        await world.documents.text(await world.scope(base.base_id), failed.document_id)
    await world.idle()
    await world.check_sound(base.base_id)


@pytest.mark.parametrize("embedder", [True, False])
async def test_a_base_without_vectors_is_complete_with_its_words(new_world: Any, tmp_path: Any, embedder: bool) -> None:
    world = new_world(tmp_path)
    if not embedder:
        world.embedder = None
    await world.start()
    base = await world.base(vector=not embedder)
    [done] = await world.settle(base.base_id, await world.add(base.base_id, LONG))
    assert (done.parse_status, done.embedded_count) == (ParseStatus.COMPLETED, 0)
    assert await world.searched(base.base_id, "слово7 ")
    await world.idle()
    await world.check_sound(base.base_id)


async def test_a_base_without_words_keeps_them_out_of_the_engine(world: Any) -> None:
    base = await world.base(keyword=False)
    await world.settle(base.base_id, await world.add(base.base_id, LONG))
    await world.idle()
    assert await world.searched(base.base_id, "слово7 ") == []
    await world.check_sound(base.base_id)


async def test_the_same_bytes_are_answered_with_the_document(world: Any) -> None:
    base, other = await world.base(), await world.base()
    first = await world.add(base.base_id, "текст")
    outcomes = await asyncio.gather(
        *(world.add(base.base_id, "другой", file_name=f"{n}.txt") for n in range(4)), return_exceptions=True
    )
    added = [item for item in outcomes if not isinstance(item, Exception)]
    assert len(added) == 1
    for item in outcomes:
        if isinstance(item, Exception):
            assert isinstance(item, Conflict)
            assert item.details["document_id"] == added[0].document_id
    with pytest.raises(Conflict) as caught:
        await world.add(base.base_id, "текст", source="/elsewhere", replace=True)
    assert caught.value.details["document_id"] == first.document_id
    await world.add(other.base_id, "текст")
    await world.idle()
    assert len(await world.blobs.stored()) == 3


async def test_a_chunk_is_switched_off_and_on(world: Any) -> None:
    base = await world.base()
    [done] = await world.settle(base.base_id, await world.add(base.base_id, "слово"))
    [chunk] = (await world.chunks.browse(await world.scope(base.base_id), done.document_id, Page())).items
    for state in (False, True, False):
        scope = await world.access.chunk(LOCAL_PRINCIPAL, chunk.chunk_id)
        assert (await world.chunks.set_enabled(scope, chunk.chunk_id, state)).enabled is state
        if state:
            # A worker that still writes the switch before this one may hide the chunk until its next piece of work.
            await world.idle()
        assert bool(await world.searched(base.base_id, "слово")) is state
    await world.idle()
    assert not world.engine.rows[chunk.chunk_id].enabled
    await world.documents.retry(await world.scope(base.base_id), done.document_id)
    await world.idle()
    assert not (await world.chunks.get(await world.scope(base.base_id), chunk.chunk_id)).enabled
    assert not world.engine.rows[chunk.chunk_id].enabled, "a switch outlives a new reading of the document"
    await world.check_sound(base.base_id)


async def test_disabled_chunks_stay_out_of_search_only(world: Any) -> None:
    base = await world.base()
    [done] = await world.settle(base.base_id, await world.add(base.base_id, "слово"))
    scope = replace(await world.scope(base.base_id), include_disabled=False)
    [chunk] = (await world.chunks.browse(scope, done.document_id, Page())).items
    await world.chunks.set_enabled(await world.access.chunk(LOCAL_PRINCIPAL, chunk.chunk_id), chunk.chunk_id, False)
    with pytest.raises(NotFound):
        await world.chunks.get(scope, chunk.chunk_id)
    assert (await world.chunks.browse(scope, done.document_id, Page())).total == 0
    await world.idle()
