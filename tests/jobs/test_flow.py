"""Documents travel from bytes to searched chunks, are replaced in place, and leave nothing when they go."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import Any

import pytest

from opora.domain.errors import Conflict, EngineError, ModelError, NotFound, Timeout
from opora.domain.knowledge import ParseStatus
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.jobs.runner import Retries
from opora.models.null import NullEmbedder
from opora.ports import Page

LONG = "\n\n".join(f"Абзац {number}: " + f"слово{number} " * 40 for number in range(30))


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


def use(world: Any, name: str, port: Any) -> Any:
    world.wrap = lambda which, real: port if which == name else real
    return port


async def restart(world: Any) -> None:
    await world.stop()
    await world.start()


async def add(world: Any, base_id: str, text: str, **values: Any) -> Any:
    values = {"file_name": "a.txt"} | values
    return await world.documents.add_file(await world.scope(base_id), base_id, data=text.encode(), **values)


async def settle(world: Any, base_id: str, *documents: Any) -> list[Any]:
    ids = [document.document_id for document in documents]
    return await world.documents.wait(await world.scope(base_id), ids, timeout=20)


async def test_a_document_becomes_searchable(world: Any) -> None:
    base = await world.base()
    document = await add(world, base.base_id, LONG, file_name="Отчёт за май.txt", metadata={"автор": "Я"})
    assert document.parse_status is ParseStatus.PENDING
    [done] = await settle(world, base.base_id, document)
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
    gate = use(world, "embedder", Gate(world.embedder, "embed_passages"))
    await world.start()
    base = await world.base()
    large = await add(world, base.base_id, LONG)
    await gate.entered.wait()
    assert await world.searched(base.base_id, "слово7 ")
    small = await add(world, base.base_id, "маленький документ")
    seen = world.runner.changes
    while not await world.searched(base.base_id, "маленький"):
        seen = await world.runner.changed(seen)
    scope = await world.scope(base.base_id)
    assert (await world.documents.progress(scope, large.document_id)).seconds_left is None
    with pytest.raises(Timeout) as caught:
        await world.documents.wait(scope, [large.document_id, small.document_id], timeout=0.01)
    assert caught.value.details["document_ids"] == [large.document_id, small.document_id]
    gate.open.set()
    assert [doc.parse_status for doc in await settle(world, base.base_id, large, small)] == ["completed"] * 2
    progress = await world.documents.progress(scope, large.document_id)
    assert (progress.embedded, progress.seconds_left) == (progress.chunks, 0.0)
    await world.idle()
    await world.check_sound(base.base_id)


async def test_progress_estimates_when(new_world: Any, tmp_path: Any) -> None:
    world = new_world(tmp_path)
    await world.start()
    base = await world.base()
    await settle(world, base.base_id, await add(world, base.base_id, "первый"))
    await world.idle()
    gate = use(world, "embedder", Gate(world.embedder, "embed_passages"))
    pace = world.runner._pace
    await restart(world)
    world.runner._pace.record(10, 20.0)
    assert pace.seconds_for(1) is not None
    document = await add(world, base.base_id, LONG)
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
    [failed] = await settle(world, base.base_id, await add(world, base.base_id, text))
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
    [done] = await settle(world, base.base_id, await add(world, base.base_id, LONG))
    assert (done.parse_status, done.embedded_count) == (ParseStatus.COMPLETED, 0)
    assert await world.searched(base.base_id, "слово7 ")
    await world.idle()
    await world.check_sound(base.base_id)


async def test_a_base_without_words_keeps_them_out_of_the_engine(world: Any) -> None:
    base = await world.base(keyword=False)
    await settle(world, base.base_id, await add(world, base.base_id, LONG))
    await world.idle()
    assert await world.searched(base.base_id, "слово7 ") == []
    await world.check_sound(base.base_id)


async def test_the_same_bytes_are_answered_with_the_document(world: Any) -> None:
    base, other = await world.base(), await world.base()
    first = await add(world, base.base_id, "текст")
    outcomes = await asyncio.gather(
        *(add(world, base.base_id, "другой", file_name=f"{n}.txt") for n in range(4)), return_exceptions=True
    )
    added = [item for item in outcomes if not isinstance(item, Exception)]
    assert len(added) == 1
    for item in outcomes:
        if isinstance(item, Exception):
            assert isinstance(item, Conflict)
            assert item.details["document_id"] == added[0].document_id
    with pytest.raises(Conflict) as caught:
        await add(world, base.base_id, "текст", source="/elsewhere", replace=True)
    assert caught.value.details["document_id"] == first.document_id
    await add(world, other.base_id, "текст")
    await world.idle()
    assert len(await world.blobs.stored()) == 3


async def test_replacing_keeps_the_id_and_what_did_not_change(world: Any) -> None:
    base = await world.base()
    first = await add(world, base.base_id, LONG, source="/a", replace=True)
    await settle(world, base.base_id, first)
    await world.idle()
    before = dict(world.engine.rows)
    assert (await add(world, base.base_id, LONG, source="/a", replace=True)).version == 1
    second = await add(world, base.base_id, LONG.replace("слово7 ", "иное "), source="/a", replace=True)
    assert (second.document_id, second.version, second.indexed_version) == (first.document_id, 2, 1)
    [done] = await settle(world, base.base_id, second)
    await world.idle()
    assert (done.version, done.indexed_version) == (2, 2)
    assert await world.searched(base.base_id, "слово7 ") == []
    assert await world.searched(base.base_id, "иное ")
    kept = [key for key in before if key in world.engine.rows]
    assert len(kept) >= len(before) - 3
    assert all(world.engine.rows[key] is before[key] for key in kept), "what stays is not written again"
    await world.check_sound(base.base_id)


async def test_a_document_being_replaced_is_found_once_at_every_moment(new_world: Any, tmp_path: Any) -> None:
    world = new_world(tmp_path)
    await world.start()
    base = await world.base()
    await settle(world, base.base_id, await add(world, base.base_id, "общее слово, старое", source="/a"))
    await world.idle()
    seen: list[list[str]] = []

    class Watched:
        def __getattr__(self, name: str) -> Any:
            real = getattr(world.engine, name)

            async def watch(*args: Any, **kw: Any) -> Any:
                seen.append(await world.searched(base.base_id, "общее"))
                outcome = await real(*args, **kw)
                seen.append(await world.searched(base.base_id, "общее"))
                return outcome

            return watch if asyncio.iscoroutinefunction(real) else real

    use(world, "engine", Watched())
    await restart(world)
    await add(world, base.base_id, "общее слово, новое", source="/a", replace=True)
    await world.idle()
    old, new = ["общее слово, старое"], ["общее слово, новое"]
    assert [found for found in seen if found not in (old, new)] == []
    assert old in seen
    assert seen[-1] == new
    await world.check_sound(base.base_id)


async def test_a_replacement_that_cannot_be_read_leaves_the_earlier_version(world: Any) -> None:
    base = await world.base()
    first = await add(world, base.base_id, "первое слово", source="/a")
    await settle(world, base.base_id, first)
    second = await add(world, base.base_id, "DAMAGED", source="/a", replace=True)
    [failed] = await settle(world, base.base_id, second)
    assert (failed.parse_status, failed.version, failed.indexed_version) == (ParseStatus.FAILED, 2, 1)
    assert "earlier version" in failed.error_message
    assert await world.searched(base.base_id, "первое")
    assert await world.documents.text(await world.scope(base.base_id), first.document_id) == "первое слово"
    third = await add(world, base.base_id, "третье слово", source="/a", replace=True)
    [done] = await settle(world, base.base_id, third)
    assert (done.parse_status, done.indexed_version, done.error_message) == (ParseStatus.COMPLETED, 3, "")
    await world.idle()
    assert await world.searched(base.base_id, "первое") == []
    await world.check_sound(base.base_id)


@pytest.mark.parametrize(
    ("port", "method"),
    [("parser", "parse"), ("engine", "write"), ("embedder", "embed_passages"), ("blobs", "put")],
)
async def test_deleted_in_mid_ingest_leaves_nothing(new_world: Any, tmp_path: Any, port: str, method: str) -> None:
    world = new_world(tmp_path)
    await world.start()
    base = await world.base()
    ports = {"blobs": world.blobs, "parser": world.parser, "engine": world.engine, "embedder": world.embedder}
    gate = use(world, port, Gate(ports[port], method))
    await restart(world)
    if port == "blobs":
        world.documents._blobs = world.blobs
    document = await add(world, base.base_id, LONG)
    await gate.entered.wait()
    scope = await world.scope(base.base_id)
    await world.documents.delete(scope, document.document_id)
    assert await world.searched(base.base_id, "слово7 ") == []
    for attempt in (world.documents.get, world.documents.delete, world.documents.data):
        with pytest.raises(NotFound):
            await attempt(scope, document.document_id)
    assert (await world.documents.browse(scope, Page())).total == 0
    again = await add(world, base.base_id, LONG)
    gate.open.set()
    await settle(world, base.base_id, again)
    await world.idle()
    assert {row.document_id for row in world.engine.rows.values()} == {again.document_id}
    await world.check_sound(base.base_id)


async def test_replaced_in_mid_ingest_ends_with_the_last(new_world: Any, tmp_path: Any) -> None:
    world = new_world(tmp_path)
    gate = use(world, "parser", Gate(world.parser, "parse"))
    await world.start()
    base = await world.base()
    await add(world, base.base_id, "первое слово", source="/a", replace=True)
    await gate.entered.wait()
    await add(world, base.base_id, "второе слово", source="/a", replace=True)
    last = await add(world, base.base_id, "третье слово", source="/a", replace=True)
    gate.open.set()
    [done] = await settle(world, base.base_id, last)
    assert (done.version, done.indexed_version) == (3, 3)
    await world.idle()
    assert await world.searched(base.base_id, "слово") == ["третье слово"]
    await world.check_sound(base.base_id)


async def test_replaced_while_its_rows_are_written_leaves_none_of_them(new_world: Any, tmp_path: Any) -> None:
    world = new_world(tmp_path)
    await world.start()
    base = await world.base()
    await settle(world, base.base_id, await add(world, base.base_id, "первое слово", source="/a"))
    await world.idle()
    gate = use(world, "engine", Gate(world.engine, "write"))
    await restart(world)
    await add(world, base.base_id, "второе слово", source="/a", replace=True)
    await gate.entered.wait()
    await add(world, base.base_id, "третье слово", source="/a", replace=True)
    gate.open.set()
    await world.idle()
    assert [row.text for row in world.engine.rows.values()] == ["третье слово"]
    await world.check_sound(base.base_id)


async def test_a_failing_delete_is_tried_again_and_not_reported_as_gone(new_world: Any, tmp_path: Any) -> None:
    world = new_world(tmp_path)
    await world.start()
    base = await world.base()
    document = await add(world, base.base_id, "слово")
    await settle(world, base.base_id, document)
    await world.idle()
    gate = Gate(world.engine, "delete_documents")
    failing = use(world, "engine", Failing(gate, "delete_documents", EngineError("down"), 5))
    await restart(world)
    scope = await world.scope(base.base_id)
    await world.documents.delete(scope, document.document_id)
    await gate.entered.wait()
    assert failing.left == 0
    assert await world.searched(base.base_id, "слово") == []
    async with world.database.read() as stored:
        assert await stored.documents.ids(scope) == [document.document_id]
    gate.open.set()
    await world.idle()
    assert world.engine.rows == {}
    await world.check_sound(base.base_id)


async def test_a_base_goes_with_all_it_holds(world: Any) -> None:
    base, other = await world.base(), await world.base()
    kept = await add(world, other.base_id, "останется")
    documents = [await add(world, base.base_id, f"{n} " + LONG) for n in range(3)]
    scope = await world.scope(base.base_id)
    await world.bases.delete(scope, base.base_id)
    with pytest.raises(NotFound):
        await world.scope(base.base_id)
    with pytest.raises(NotFound):
        await world.access.document(LOCAL_PRINCIPAL, documents[0].document_id)
    with pytest.raises(NotFound):
        await world.documents.add_file(scope, base.base_id, file_name="x", data=b"late")
    await world.idle()
    assert {row.base_id for row in world.engine.rows.values()} == {other.base_id}
    assert await world.blobs.stored() == [("default", kept.document_id)]
    await world.check_sound(other.base_id)


@pytest.mark.parametrize(
    ("port", "method", "error"),
    [
        ("engine", "write", EngineError("down")),
        ("embedder", "embed_passages", ModelError("down")),
        ("parser", "parse", RuntimeError("a bug")),
    ],
)
async def test_an_outage_is_waited_out(new_world: Any, tmp_path: Any, port: str, method: str, error: Exception) -> None:
    world = new_world(tmp_path)
    use(world, port, Failing(getattr(world, port), method, error, 3))
    await world.start()
    base = await world.base()
    [done] = await settle(world, base.base_id, await add(world, base.base_id, LONG))
    assert done.parse_status is ParseStatus.COMPLETED
    await world.idle()
    await world.check_sound(base.base_id)


@pytest.mark.parametrize(
    ("port", "method", "reason", "searched"),
    [("engine", "write", "indexing_failed", False), ("embedder", "embed_passages", "embedding_failed", True)],
)
async def test_a_long_outage_fails_the_document_until_it_is_tried_again(
    new_world: Any, tmp_path: Any, caplog: pytest.LogCaptureFixture, port: str, method: str, reason: str, searched: bool
) -> None:
    caplog.set_level(logging.CRITICAL, logger="opora.jobs")
    world = new_world(tmp_path)
    world.retries = Retries(first=0.0, attempts=3)
    failing = use(world, port, Failing(getattr(world, port), method, ModelError("The model is down."), 3))
    await world.start()
    base = await world.base()
    document = await add(world, base.base_id, LONG, source="/a", replace=True)
    [failed] = await settle(world, base.base_id, document)
    assert (failed.parse_status, failed.error_reason) == (ParseStatus.FAILED, reason)
    assert "The model is down." in failed.error_message
    await world.idle()
    assert bool(await world.searched(base.base_id, "слово7 ")) is searched
    assert failing.left == 0
    again = await add(world, base.base_id, LONG, source="/a", replace=True)
    assert (again.document_id, again.parse_status) == (document.document_id, ParseStatus.PENDING)
    [done] = await settle(world, base.base_id, again)
    assert (done.parse_status, done.error_reason) == (ParseStatus.COMPLETED, "")
    await world.idle()
    await world.check_sound(base.base_id)


async def test_a_chunk_is_switched_off_and_on(world: Any) -> None:
    base = await world.base()
    [done] = await settle(world, base.base_id, await add(world, base.base_id, "слово"))
    [chunk] = (await world.chunks.browse(await world.scope(base.base_id), done.document_id, Page())).items
    for state in (False, True, False):
        scope = await world.access.chunk(LOCAL_PRINCIPAL, chunk.chunk_id)
        assert (await world.chunks.set_enabled(scope, chunk.chunk_id, state)).enabled is state
        assert bool(await world.searched(base.base_id, "слово")) is state
        assert world.engine.rows[chunk.chunk_id].enabled is state
    await world.documents.retry(await world.scope(base.base_id), done.document_id)
    await world.idle()
    assert not (await world.chunks.get(await world.scope(base.base_id), chunk.chunk_id)).enabled
    assert not world.engine.rows[chunk.chunk_id].enabled, "a switch outlives a new reading of the document"
    await world.check_sound(base.base_id)


async def test_an_engine_that_misses_a_switch_is_told_again(new_world: Any, tmp_path: Any) -> None:
    world = new_world(tmp_path)
    use(world, "engine", Failing(world.engine, "set_enabled", EngineError("down"), 1))
    await world.start()
    base = await world.base()
    [done] = await settle(world, base.base_id, await add(world, base.base_id, "слово"))
    [chunk] = (await world.chunks.browse(await world.scope(base.base_id), done.document_id, Page())).items
    await world.chunks.set_enabled(await world.access.chunk(LOCAL_PRINCIPAL, chunk.chunk_id), chunk.chunk_id, False)
    await world.idle()
    assert not world.engine.rows[chunk.chunk_id].enabled


async def test_a_lost_engine_is_filled_anew(world: Any) -> None:
    base = await world.base()
    await settle(world, base.base_id, await add(world, base.base_id, LONG))
    await world.idle()
    rows = world.engine.rows
    world.engine = type(world.engine)()
    await restart(world)
    await world.idle()
    assert world.engine.rows == rows
    await world.check_sound(base.base_id)


async def test_another_model_makes_all_vectors_anew_before_it_is_named(new_world: Any, tmp_path: Any) -> None:
    world = new_world(tmp_path)
    await world.start()
    base = await world.base()
    await settle(world, base.base_id, await add(world, base.base_id, LONG))
    await world.idle()
    world.embedder = NullEmbedder(12)
    gate = use(world, "embedder", Gate(world.embedder, "embed_passages"))
    for _ in range(2):
        await restart(world)
        await gate.entered.wait()
        named = (await world.bases.get(await world.scope(base.base_id), base.base_id)).embedding_model_id
        assert named == "null-8", "searched by words only while vectors are mixed"
    gate.open.set()
    await world.idle()
    assert {row.dimension for row in world.engine.rows.values()} == {12}
    assert (await world.bases.get(await world.scope(base.base_id), base.base_id)).embedding_model_id == "null-12"
    await world.check_sound(base.base_id)


async def test_a_model_that_comes_later_embeds_what_is_there(new_world: Any, tmp_path: Any) -> None:
    world = new_world(tmp_path)
    world.embedder = None
    await world.start()
    base = await world.base()
    await settle(world, base.base_id, await add(world, base.base_id, LONG))
    await world.idle()
    world.embedder = NullEmbedder(8)
    await restart(world)
    await world.idle()
    await world.check_sound(base.base_id)
    assert all(row.dimension == 8 for row in world.engine.rows.values())


async def test_the_files_of_a_lost_upload_are_swept(world: Any) -> None:
    base = await world.base()
    document = await add(world, base.base_id, "слово")
    await world.idle()
    await world.blobs.put("default", "never-recorded", 1, b"x")
    await world.blobs.put("default", document.document_id, 2, b"an upload that died")
    await restart(world)
    assert await world.blobs.stored() == [("default", document.document_id)]
    second = await add(world, base.base_id, "новое слово", source="/b")
    third = await add(world, base.base_id, "и ещё", source="/b", replace=True)
    assert third.document_id == second.document_id
    await world.idle()
    await world.check_sound(base.base_id)


async def test_a_stored_file_that_is_gone_fails_the_document(new_world: Any, tmp_path: Any) -> None:
    world = new_world(tmp_path)
    await world.start(work=False)
    base = await world.base()
    document = await add(world, base.base_id, "слово")
    await world.blobs.delete("default", document.document_id)
    await world.runner.start()
    [failed] = await settle(world, base.base_id, document)
    assert (failed.parse_status, failed.error_reason) == (ParseStatus.FAILED, "damaged_file")


async def test_disabled_chunks_stay_out_of_search_only(world: Any) -> None:
    base = await world.base()
    [done] = await settle(world, base.base_id, await add(world, base.base_id, "слово"))
    scope = replace(await world.scope(base.base_id), include_disabled=False)
    [chunk] = (await world.chunks.browse(scope, done.document_id, Page())).items
    await world.chunks.set_enabled(await world.access.chunk(LOCAL_PRINCIPAL, chunk.chunk_id), chunk.chunk_id, False)
    with pytest.raises(NotFound):
        await world.chunks.get(scope, chunk.chunk_id)
    assert (await world.chunks.browse(scope, done.document_id, Page())).total == 0
    await world.idle()
