"""A part that is down is waited out; only a long outage fails a document, until it is tried again."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from opora.domain.errors import EngineError, ModelError
from opora.domain.knowledge import ParseStatus
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.jobs.runner import Retries
from opora.ports import Page

LONG = "\n\n".join(f"Абзац {number}: " + f"слово{number} " * 40 for number in range(30))


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
    world.failing(port, method, error, 3)
    await world.start()
    base = await world.base()
    [done] = await world.settle(base.base_id, await world.add(base.base_id, LONG))
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
    failing = world.failing(port, method, ModelError("The model is down."), 3)
    await world.start()
    base = await world.base()
    document = await world.add(base.base_id, LONG, source="/a", replace=True)
    [failed] = await world.settle(base.base_id, document)
    assert (failed.parse_status, failed.error_reason) == (ParseStatus.FAILED, reason)
    assert "The model is down." in failed.error_message
    await world.idle()
    assert bool(await world.searched(base.base_id, "слово7 ")) is searched
    assert failing.left == 0
    again = await world.add(base.base_id, LONG, source="/a", replace=True)
    assert (again.document_id, again.parse_status) == (document.document_id, ParseStatus.PENDING)
    [done] = await world.settle(base.base_id, again)
    assert (done.parse_status, done.error_reason) == (ParseStatus.COMPLETED, "")
    await world.idle()
    await world.check_sound(base.base_id)


async def test_an_engine_that_misses_a_switch_is_told_again(new_world: Any, tmp_path: Any) -> None:
    world = new_world(tmp_path)
    world.failing("engine", "set_enabled", EngineError("down"), 1)
    await world.start()
    base = await world.base()
    [done] = await world.settle(base.base_id, await world.add(base.base_id, "слово"))
    [chunk] = (await world.chunks.browse(await world.scope(base.base_id), done.document_id, Page())).items
    await world.chunks.set_enabled(await world.access.chunk(LOCAL_PRINCIPAL, chunk.chunk_id), chunk.chunk_id, False)
    await world.idle()
    assert not world.engine.rows[chunk.chunk_id].enabled


async def test_an_engine_that_misses_that_a_document_is_switched_off_is_told_again(
    new_world: Any, tmp_path: Any
) -> None:
    world = new_world(tmp_path)
    world.failing("engine", "set_enabled", EngineError("down"), 1)
    await world.start()
    base = await world.base()
    [done] = await world.settle(base.base_id, await world.add(base.base_id, "слово"))
    scope = await world.scope(base.base_id)
    [chunk] = (await world.chunks.browse(scope, done.document_id, Page())).items
    for enabled in (False, True):
        await world.documents.update(scope, done.document_id, enabled=enabled)
        await world.idle()
        assert world.engine.rows[chunk.chunk_id].enabled is enabled
        assert world.engine.rows[chunk.chunk_id].vector is not None
