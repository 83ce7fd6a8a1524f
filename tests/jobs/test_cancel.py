"""Reading and embedding can be stopped at any moment: the end is clear, and nothing is left over."""

from __future__ import annotations

from typing import Any

import pytest

TEXT = "\n\n".join(f"Абзац {number}: " + f"слово{number} " * 60 for number in range(10))


@pytest.mark.parametrize(
    ("port", "method"),
    [("parser", "parse"), ("blobs", "put"), ("engine", "write"), ("embedder", "embed_passages")],
)
async def test_a_first_reading_that_is_stopped(new_world: Any, tmp_path: Any, port: str, method: str) -> None:
    world = new_world(tmp_path)
    gate = world.gate(port, method)
    await world.start()
    base = await world.base()
    document = await world.add(base.base_id, TEXT)
    await gate.entered.wait()
    scope = await world.scope(base.base_id)
    stopped = await world.documents.cancel(scope, document.document_id)
    assert (stopped.parse_status, stopped.error_reason) == ("failed", "cancelled")
    await world.idle()
    gate.open.set()
    now = await world.documents.get(scope, document.document_id)
    assert (now.parse_status, now.error_reason) == ("failed", "cancelled")
    is_split = port == "embedder"
    assert now.indexed_version == int(is_split)
    assert bool(await world.searched(base.base_id, "слово3")) is is_split
    await world.check_sound(base.base_id)
    await world.restart()
    await world.idle()
    assert (await world.documents.get(scope, document.document_id)).embedded_count == 0, "a start takes nothing up"
    await world.documents.retry(scope, document.document_id)
    (done,) = await world.settle(base.base_id, document)
    assert (done.parse_status, done.error_reason, done.embedded_count) == ("completed", "", done.chunk_count)
    await world.idle()
    await world.check_sound(base.base_id)
    await world.stop()


@pytest.mark.parametrize(("port", "method"), [("parser", "parse"), ("engine", "write"), ("embedder", "embed_passages")])
async def test_a_newer_version_that_is_stopped(new_world: Any, tmp_path: Any, port: str, method: str) -> None:
    world = new_world(tmp_path)
    await world.start()
    base = await world.base()
    await world.settle(base.base_id, await world.add(base.base_id, TEXT, source="/a", replace=True))
    await world.idle()
    await world.stop()
    gate = world.gate(port, method)
    await world.start()
    newer = await world.add(base.base_id, TEXT.replace("слово3", "иное"), source="/a", replace=True)
    await gate.entered.wait()
    scope = await world.scope(base.base_id)
    stopped = await world.documents.cancel(scope, newer.document_id)
    await world.idle()
    gate.open.set()
    is_split = port == "embedder"
    assert ("earlier version" in stopped.error_message) is not is_split
    assert bool(await world.searched(base.base_id, "слово3")) is not is_split
    assert bool(await world.searched(base.base_id, "иное")) is is_split
    await world.check_sound(base.base_id)
    again = await world.add(base.base_id, TEXT.replace("слово3", "иное"), source="/a", replace=True)
    (done,) = await world.settle(base.base_id, again)
    assert (done.parse_status, done.version) == ("completed", 2)
    await world.idle()
    assert await world.searched(base.base_id, "иное")
    await world.check_sound(base.base_id)
    await world.stop()


async def test_work_that_waits_is_taken_back(new_world: Any, tmp_path: Any) -> None:
    world = new_world(tmp_path)
    await world.start(work=False)
    base = await world.base()
    document = await world.add(base.base_id, TEXT)
    scope = await world.scope(base.base_id)
    await world.documents.cancel(scope, document.document_id)
    await world.runner.start()
    await world.idle()
    now = await world.documents.get(scope, document.document_id)
    assert (now.error_reason, now.indexed_version) == ("cancelled", 0)
    await world.check_sound(base.base_id)
    await world.stop()
