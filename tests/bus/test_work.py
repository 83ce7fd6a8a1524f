"""Work over a real JetStream: messages wake and are acknowledged, what is given up leaves a letter and a reason."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import nats
import pytest
from nats.js import JetStreamContext
from tests.servers.nats import NatsServer

from opora.bootstrap import App, Models
from opora.bootstrap.app import SHARED_ATTEMPTS
from opora.bus.connection import Bus
from opora.bus.wake import ACK_SECONDS, MAX_DELIVER, WorkStream
from opora.domain.errors import EngineError
from opora.domain.knowledge import ParseReason, ParseStatus
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.jobs.runner import Retries
from opora.settings import Settings


def test_five_times_and_then_no_more() -> None:
    assert (SHARED_ATTEMPTS, MAX_DELIVER, ACK_SECONDS) == (5, 5, 30.0)


async def eventually(stream: JetStreamContext, name: str, messages: int) -> None:
    """What the stream holds, asked for until it is so."""
    async with asyncio.timeout(20):
        while (await stream.stream_info(name)).state.messages != messages:
            pass


async def test_what_fails_five_times_is_given_up_with_its_reason_and_a_letter(
    tmp_path: Path, nats_server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings.model_validate({"data": tmp_path, "embedding": "none", "NATS_URL": nats_server.url})
    app = await App.open(settings, models=Models(embedder=None, chat=None))
    assert app.jobs._retries.attempts == 5
    app.jobs._retries = Retries(first=0.0, attempts=app.jobs._retries.attempts)
    tries: list[int] = []

    async def down(*args: Any) -> None:
        tries.append(1)
        raise EngineError("the engine is away")

    monkeypatch.setattr(app._engine, "write", down)
    base = await app.bases.create(await app.access.tenant(LOCAL_PRINCIPAL), name="Б")
    scope = await app.access.bases(LOCAL_PRINCIPAL, [base.base_id])
    document = await app.documents.add_text(scope, base.base_id, title="П", content="Слово.\n")
    (failed,) = await app.documents.wait(scope, [document.document_id], timeout=60)
    assert (failed.parse_status, failed.error_reason) == (ParseStatus.FAILED, ParseReason.INDEXING)
    assert "the engine is away" in failed.error_message
    assert len(tries) == 5
    client = await nats.connect(nats_server.url)
    stream = client.jetstream()
    assert app._bus is not None
    await app._bus.connected()
    async with asyncio.timeout(20):
        while "opora_dead" not in {info.config.name for info in await stream.streams_info()}:
            pass
    await eventually(stream, "opora_dead", 1)
    letter = json.loads((await stream.get_last_msg("opora_dead", "opora.work.dead")).data or b"")
    assert (letter["kind"], letter["subject"], letter["knowledge_base_id"]) == (
        "ingest",
        document.document_id,
        base.base_id,
    )
    assert "the engine is away" in letter["reason"]
    await client.close()
    await app.close()


async def test_a_message_goes_when_somebody_has_looked_and_stays_until_then(nats_server: NatsServer) -> None:
    bus = Bus(nats_server.url)
    bus.start()
    client = (await bus.connected()).jetstream()
    looks: asyncio.Queue[None] = asyncio.Queue()
    gate = asyncio.Event()

    async def look() -> None:
        looks.put_nowait(None)
        await gate.wait()

    idle = WorkStream(bus, prefix="x", look=None)
    idle.start()
    for _ in range(3):
        idle.announce()
    working = WorkStream(bus, prefix="x", look=look)
    working.start()
    async with asyncio.timeout(20):
        await looks.get()
    await eventually(client, "x_work", 1)
    gate.set()
    await eventually(client, "x_work", 0)
    idle.announce()
    async with asyncio.timeout(20):
        await looks.get()
    for stream in (idle, working):
        await stream.close()
    await bus.close()
