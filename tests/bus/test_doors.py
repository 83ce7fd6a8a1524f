"""A real broker: every request gets a reply, whatever becomes of the workers, the broker and the size."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import nats
import pytest
from nats.aio.client import Client
from tests.servers.nats import MAX_PAYLOAD, NatsServer

from opora.bootstrap import App, Models
from opora.bus.connection import Bus, Door
from opora.bus.vectoriser import SECONDS, SUBJECT, BusVectoriser
from opora.domain.errors import InvalidInput, ModelError
from opora.domain.knowledge import ChunkingConfig
from opora.domain.roles import Role
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.models.null import NullEmbedder
from opora.settings import Settings

TEXT = "# Командировки\n\nРасходы на проезд возмещают после возвращения из поездки.\n"


def settings(folder: Path, url: str, **values: Any) -> Settings:
    return Settings.model_validate({"data": folder, "embedding": "none", "NATS_URL": url, **values})


async def opened(folder: Path, url: str, *, model: bool = True, **values: Any) -> App:
    embedder = NullEmbedder(16) if model else None
    return await App.open(settings(folder, url, **values), models=Models(embedder=embedder, chat=None))


async def fill(app: App, text: str = TEXT, **values: Any) -> None:
    base = await app.bases.create(await app.access.tenant(LOCAL_PRINCIPAL), name="Правила", **values)
    scope = await app.access.bases(LOCAL_PRINCIPAL, [base.base_id])
    document = await app.documents.add_text(scope, base.base_id, title="Правила", content=text)
    await app.documents.wait(scope, [document.document_id], timeout=60)


async def reached(app: App) -> None:
    assert app._bus is not None
    async with asyncio.timeout(20):
        await app._bus.connected()


@pytest.fixture
async def app(tmp_path: Path, nats_server: NatsServer) -> AsyncIterator[App]:
    app = await opened(tmp_path / "data", nats_server.url)
    await fill(app)
    await reached(app)
    yield app
    await app.close()


@pytest.fixture
async def client(nats_server: NatsServer) -> AsyncIterator[Client]:
    client = await nats.connect(nats_server.url, reconnect_time_wait=0.1, max_reconnect_attempts=-1)
    yield client
    await client.close()


async def asked(client: Client, subject: str, body: Any, *, seconds: float = 20) -> dict[str, Any]:
    payload = body if isinstance(body, bytes) else json.dumps(body).encode()
    return dict(json.loads((await client.request(subject, payload, timeout=seconds)).data))


@pytest.mark.parametrize("kind", ["semantic", "fulltext", "hybrid"])
async def test_a_search_over_the_bus_is_the_search_of_the_room(app: App, client: Client, kind: str) -> None:
    body = await asked(client, "context.search", {"query": "проезд", "search_type": kind})
    assert body["search_type"] == kind
    assert "после возвращения" in body["results"][0]["content"]
    assert body["results"][0]["document"]["title"] == "Правила"
    assert ("search_metadata" in body) is (kind == "hybrid")


async def test_left_out_the_search_is_semantic(app: App, client: Client) -> None:
    assert (await asked(client, "context.search", {"query": "проезд"}))["search_type"] == "semantic"


async def test_a_vector_over_the_bus(app: App, client: Client) -> None:
    body = await asked(client, SUBJECT, {"query": "проезд"})
    assert (body["dimension"], len(body["vector"])) == (16, 16)
    assert body["model"] == NullEmbedder(16).card.identity


@pytest.mark.parametrize(
    ("subject", "body", "name", "field"),
    [
        ("context.search", b"\xff{", "invalid_input", "body"),
        ("context.search", {"search_type": "hybrid"}, "invalid_input", "query"),
        ("context.search", {"query": "x" * 10_001}, "invalid_input", "query"),
        ("context.search", {"query": "x", "limit": 51}, "invalid_input", "limit"),
        ("context.search", {"query": "x", "limit": "5"}, "invalid_input", "limit"),
        ("context.search", {"query": "x", "search_type": "magic"}, "invalid_input", "search_type"),
        ("context.search", {"query": "x", "knowledge_base_ids": "all"}, "invalid_input", "knowledge_base_ids"),
        ("context.search", {"query": "x", "knowledge_base_ids": ["gone"]}, "not_found", None),
        (SUBJECT, b"[]", "invalid_input", "body"),
        (SUBJECT, {}, "invalid_input", "query"),
        (SUBJECT, {"query": "x", "tenant_id": "t", "knowledge_base_id": "gone"}, "not_found", None),
    ],
)
async def test_a_bad_request_gets_a_coded_reply_and_the_next_one_works(
    app: App, client: Client, subject: str, body: Any, name: str, field: str | None
) -> None:
    error = (await asked(client, subject, body))["error"]
    assert (error["name"], error["details"].get("field")) == (name, field)
    assert "results" in await asked(client, "context.search", {"query": "проезд", "search_type": "fulltext"})


async def test_a_request_without_a_place_for_its_reply_is_dropped(app: App, client: Client) -> None:
    await client.publish("context.search", b"{}")
    await client.flush()
    assert "results" in await asked(client, "context.search", {"query": "проезд", "search_type": "fulltext"})


async def test_a_reply_that_is_too_large_is_cut_by_whole_results(
    tmp_path: Path, nats_server: NatsServer, client: Client
) -> None:
    app = await opened(tmp_path / "data", nats_server.url, model=False)
    size = 60_000
    text = "\n\n".join(f"# Глава {n}\n\nпроезд " + f"слово{n} " * (size // 8) for n in range(30))
    await fill(app, text, chunking=ChunkingConfig(size=size, hard_cap=size))
    await reached(app)
    body = await asked(client, "context.search", {"query": "проезд", "search_type": "fulltext", "limit": 50})
    assert 0 < body["results_count"] == len(body["results"])
    assert body["results_left_out"] > 0
    assert len(json.dumps(body, ensure_ascii=False).encode()) <= MAX_PAYLOAD + 1_000
    assert (await asked(client, "context.search", {"query": "слово1", "search_type": "fulltext", "limit": 1}))[
        "results"
    ]
    await app.close()


async def test_a_key_is_asked_for_where_one_is_set(tmp_path: Path, nats_server: NatsServer, client: Client) -> None:
    app = await opened(tmp_path / "data", nats_server.url, api_key="key-of-the-test")
    await fill(app)
    await reached(app)
    body = json.dumps({"query": "проезд", "search_type": "fulltext"}).encode()
    refused = json.loads((await client.request("context.search", body, timeout=20)).data)
    assert refused["error"]["name"] == "unauthenticated"
    given = json.loads(
        (await client.request("context.search", body, timeout=20, headers={"X-API-Key": "key-of-the-test"})).data
    )
    assert "results" in given
    await app.close()


async def test_a_retriever_asks_an_ingestor_and_says_at_once_when_there_is_none(
    tmp_path: Path, nats_server: NatsServer, client: Client
) -> None:
    assert SECONDS == 10.0
    bus = Bus(nats_server.url)
    bus.start()
    await bus.connected()
    vectoriser = BusVectoriser(bus)
    with pytest.raises(ModelError, match="Nobody answers"):
        async with asyncio.timeout(5):
            await vectoriser.vectorise("проезд")
    app = await opened(tmp_path / "data", nats_server.url)
    await reached(app)
    made = await vectoriser.vectorise("проезд")
    assert (made.identity, made.vector.shape) == (NullEmbedder(16).card.identity, (16,))
    await app.close()
    await bus.close()


async def test_an_answer_that_comes_too_late_is_an_error_and_one_of_two_is_used(nats_server: NatsServer) -> None:
    gate = asyncio.Event()
    answered: list[int] = []

    def door(number: int) -> Door:
        async def handler(payload: bytes, headers: Any) -> dict[str, Any]:
            answered.append(number)
            if b"slow" in payload:
                await gate.wait()
            return {"model": "m", "vector": [1.0]}

        return Door(subject=SUBJECT, group="ingestor", handler=handler)

    buses = [Bus(nats_server.url, doors=(door(number),)) for number in range(2)]
    asking = Bus(nats_server.url)
    for bus in (*buses, asking):
        bus.start()
        await bus.connected()
    with pytest.raises(ModelError, match=r"not answered within 0\.2 seconds"):
        await BusVectoriser(asking, seconds=0.2).vectorise("slow")
    gate.set()
    answered.clear()
    for _ in range(20):
        assert (await BusVectoriser(asking).vectorise("x")).identity == "m"
    assert len(answered) == 20, "each request is answered by one of them"
    for bus in (*buses, asking):
        await bus.close()


async def test_the_broker_may_be_away_at_the_start_and_go_and_come_back(
    tmp_path: Path, nats_server: NatsServer
) -> None:
    nats_server.stop()
    app = await opened(tmp_path / "data", nats_server.url)
    await fill(app)
    broker = {check["name"]: check for check in (await app.ready())["checks"]}["broker"]
    assert (broker["ok"], "can't be reached" in broker["detail"]) == (False, True)
    assert (await app.ready())["ready"]
    nats_server.start()
    await reached(app)
    for _ in range(2):
        client = await nats.connect(nats_server.url)
        assert "results" in await asked(client, "context.search", {"query": "проезд", "search_type": "fulltext"})
        await client.close()
        back = asyncio.Event()
        app._bus._back = lambda event=back: _set(event)  # type: ignore[method-assign, union-attr, misc]
        app._bus._client._reconnected_cb = app._bus._back  # type: ignore[union-attr]
        nats_server.stop()
        nats_server.start()
        async with asyncio.timeout(30):
            await back.wait()
    assert {check["name"]: check["ok"] for check in (await app.ready())["checks"]}["broker"]
    await app.close()


async def _set(event: asyncio.Event) -> None:
    event.set()


async def test_a_retriever_without_a_broker_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as told:
        await App.open(Settings(data=tmp_path, embedding="none", role=Role.RETRIEVER))
    assert "NATS_URL" in told.value.hint
