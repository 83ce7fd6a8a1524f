"""Processes of different roles over one PostgreSQL, Redis and NATS: searches answered by many, work done by many."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import nats
import pytest
from nats.aio.client import Client
from tests.servers.nats import NatsServer
from tests.servers.postgres import PostgresServer
from tests.servers.provider import providing
from tests.servers.test_two_servers import House, Server

pytestmark = pytest.mark.slow

SEARCHES = 2_000
AT_ONCE = 50
TEXT = "# Командировки\n\nРасходы на проезд возмещают по документам после возвращения.\n\n"


async def connected(*servers: Server) -> None:
    """Until the doors of all of them are open."""
    async with asyncio.timeout(60):
        for server in servers:
            while True:
                checks = (await server.http.get("/readyz")).json()["checks"]
                if next(one for one in checks if one["name"] == "broker")["ok"]:
                    break


@pytest.fixture
async def house(
    tmp_path: Path,
    request: pytest.FixtureRequest,
    postgres_server: PostgresServer,
    postgres_url: str,
    redis_server: Any,
    nats_server: NatsServer,
) -> AsyncIterator[House]:
    async with providing() as provider:
        provider.embeds.set()
        yield House(tmp_path, postgres_url, redis_server.url, request.node.name, provider, postgres_server)


@asynccontextmanager
async def worker(house: House, nats_server: NatsServer, name: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """``opora worker`` in a process of its own, at work."""
    with (house.folder / f"{name}.log").open("w") as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "opora.cli", "worker"),
            env=house.environment(name, NATS_URL=nats_server.url),
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
        )
    try:
        assert process.stdout is not None
        line = (await asyncio.wait_for(process.stdout.readline(), 60)).decode()
        assert line.startswith("A worker is at work"), line + (house.folder / f"{name}.log").read_text()
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
            await asyncio.wait_for(process.wait(), 30)


async def base_with(server: Server, name: str, **texts: str) -> tuple[str, dict[str, str]]:
    base = str((await server.post("/knowledge-bases", name=name))["id"])
    documents = {}
    for title, content in texts.items():
        made = await server.post(f"/knowledge-bases/{base}/knowledge/manual", title=title, content=content)
        documents[title] = str(made["id"])
    return base, documents


async def test_two_retrievers_and_two_ingestors_answer_every_search_and_each_its_own(
    house: House, nats_server: NatsServer
) -> None:
    async with AsyncExitStack() as stack:
        parts: list[Server] = []
        for number in range(2):
            ingestor = await stack.enter_async_context(
                house.serving(f"in{number}", NATS_URL=nats_server.url, OPORA_ROLE="ingestor")
            )
            parts.append(ingestor)
        base, documents = await base_with(
            ingestor, "Правила", **{f"Тема {n}": f"Правило номер {n} о предмете{n}.\n" for n in range(20)}
        )
        for document in documents.values():
            assert (await ingestor.ready(document))["parse_status"] == "completed"
        for number in range(2):
            retriever = await stack.enter_async_context(
                house.serving(
                    f"out{number}", NATS_URL=nats_server.url, OPORA_ROLE="retriever", OPORA_EMBEDDING="openai"
                )
            )
            parts.append(retriever)
        await connected(*parts)
        client = await nats.connect(nats_server.url)
        turn = asyncio.Semaphore(AT_ONCE)

        async def ask(number: int) -> None:
            kind = ("fulltext", "semantic", "hybrid")[number % 3]
            subject = number % 20
            body = {"query": f"предмете{subject}", "search_type": kind, "knowledge_base_ids": [base], "limit": 3}
            async with turn:
                reply = json.loads((await client.request("context.search", json.dumps(body).encode(), timeout=60)).data)
            assert "error" not in reply, reply
            assert (reply["query"], reply["search_type"]) == (body["query"], kind)
            assert reply["results"]
            if kind == "fulltext":
                assert [one["document"]["title"] for one in reply["results"]] == [f"Тема {subject}"]

        await asyncio.gather(*(ask(number) for number in range(SEARCHES)))
        answer = await retriever.http.post("/api/search", json={"query": "предмете1", "search_type": "semantic"})
        assert answer.json()["results"], "the same over HTTP, with the vector from an ingestor"
        await client.close()


async def test_a_dead_worker_a_restarted_broker_and_messages_that_come_again(
    house: House, nats_server: NatsServer
) -> None:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(
            house.serving("front", NATS_URL=nats_server.url, OPORA_ROLE="retriever", OPORA_EMBEDDING="none")
        )
        house.provider.embeds.clear()
        first = await stack.enter_async_context(worker(house, nats_server, "w1"))
        text = TEXT + "\n\n".join(f"Абзац {n}. " + "Расходы на проезд возмещают. " * 8 for n in range(4))
        base, documents = await base_with(server, "Правила", **{f"Д{n}": f"{text}\n\nЭто {n}.\n" for n in range(6)})
        await asyncio.wait_for(house.provider.asked_to_embed.wait(), 60)
        first.kill()
        await first.wait()
        nats_server.stop()
        nats_server.start()
        house.provider.embeds.set()
        await house.run("UPDATE work SET lease_until = now() - interval '1 second' WHERE lease_owner <> ''")
        for name in ("w2", "w3"):
            await stack.enter_async_context(worker(house, nats_server, name))
        client: Client = await nats.connect(nats_server.url)
        for _ in range(3):
            await client.jetstream().publish("opora.work.new", b"{}")
        for document in documents.values():
            assert (await server.ready(document))["parse_status"] == "completed"
        await house.run("SELECT 1")
        counts = await house.run("SELECT document_id, count(*) AS n FROM chunks WHERE is_searched GROUP BY document_id")
        assert {row["document_id"] for row in counts} == set(documents.values())
        assert len({row["n"] for row in counts}) == 1
        index = await server.get(f"/knowledge-bases/{base}/index")
        assert index["is_sound"], index
        await client.close()


async def test_the_queue_refuses_more_than_it_takes_until_workers_made_room(
    house: House, nats_server: NatsServer
) -> None:
    async with house.serving("one", NATS_URL=nats_server.url, OPORA_ROLE="retriever", OPORA_QUEUE_LIMIT="2") as server:
        base, documents = await base_with(server, "Правила", a="Первое.\n", b="Второе.\n")
        path = f"/api/v1/knowledge-bases/{base}/knowledge/manual"
        refused = await server.http.post(path, json={"title": "c", "content": "Третье.\n"})
        assert refused.status_code == 429, refused.text
        assert int(refused.headers["Retry-After"]) > 0
        assert refused.json()["error"]["details"] == {"waiting": 2, "limit": 2}
        async with worker(house, nats_server, "w"):
            for document in documents.values():
                await server.ready(document)
            assert (await server.http.post(path, json={"title": "c", "content": "Третье.\n"})).status_code == 201


async def test_workers_need_what_processes_can_share(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "opora.cli", "worker"),
        env={"OPORA_DATA": str(tmp_path), "PATH": "", "OPORA_EMBEDDING": "none"},
        stderr=asyncio.subprocess.PIPE,
    )
    _, errors = await process.communicate()
    assert process.returncode == 2
    assert "OPORA_DATABASE_URL" in errors.decode()
