"""Two whole servers, each in a process and a folder of its own, over one PostgreSQL and one Redis, by HTTP."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from redis.asyncio import Redis
from tests.api.test_chat import asking, continuing, stop, stored

from .postgres import PostgresServer
from .provider import Provider, providing

pytestmark = pytest.mark.slow

TEXT = "# Командировки\n\nРасходы на проезд и дорогу возмещают по документам после возвращения из поездки.\n"
LONG = "\n\n".join(f"Абзац {i}. " + "Расходы на проезд возмещают после возвращения. " * 8 for i in range(6))
QUESTION = "Когда возмещают проезд?"


@dataclass
class Server:
    process: asyncio.subprocess.Process
    http: httpx2.AsyncClient
    errors: Path

    async def kill(self) -> None:
        self.process.kill()
        await self.process.wait()

    async def post(self, path: str, **body: Any) -> Any:
        answer = await self.http.post(f"/api/v1{path}", json=body)
        assert answer.is_success, answer.text
        return answer.json()["data"]

    async def get(self, path: str) -> Any:
        answer = await self.http.get(f"/api/v1{path}")
        assert answer.is_success, answer.text
        return answer.json()["data"]

    async def upload(self, base_id: str, text: str) -> str:
        path = f"/api/v1/knowledge-bases/{base_id}/knowledge/file"
        answer = await self.http.post(path, files={"file": ("travel.md", text.encode())})
        assert answer.is_success, answer.text
        return str(answer.json()["data"]["id"])

    async def ready(self, document_id: str) -> dict[str, Any]:
        """Asked for again until it is settled, as a page does it."""
        async with asyncio.timeout(60):
            while True:
                document = await self.get(f"/knowledge/{document_id}")
                if document["parse_status"] in ("completed", "failed"):
                    return dict(document)

    async def ended(self, session_id: str, message_id: str) -> dict[str, Any]:
        """The stored message, which the end of a stream may come before."""
        async with asyncio.timeout(60):
            while True:
                message = await stored(self.http, session_id, message_id)
                if message["is_completed"]:
                    return message


@dataclass
class House:
    """What the servers have in common."""

    folder: Path
    database: str
    redis: str
    prefix: str
    provider: Provider
    postgres: PostgresServer

    def environment(self, name: str, **changes: str) -> dict[str, str]:
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(("OPORA_", "RETRIEVE_"))}
        return (
            inherited
            | {
                "OPORA_DATA": str(self.folder / name),
                "OPORA_SHARED": str(self.folder / "shared"),
                "OPORA_DATABASE_URL": self.database,
                "RETRIEVE_DRIVER": "postgres",
                "STREAM_MANAGER_TYPE": "redis",
                "REDIS_URL": self.redis,
                "REDIS_PREFIX": self.prefix,
                "OPORA_EMBEDDING": "openai",
                "OPORA_EMBEDDING_URL": self.provider.url,
                "OPORA_EMBEDDING_MODEL": "m",
                "OPORA_CHAT_URL": self.provider.url,
                "OPORA_CHAT_MODEL": "m",
                "NO_COLOR": "1",
            }
            | changes
        )

    async def spawn(self, name: str, **changes: str) -> tuple[asyncio.subprocess.Process, Path]:
        errors = self.folder / f"{name}.log"
        with errors.open("w") as log:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "opora.cli", "serve", "--port", "0"),
                env=self.environment(name, **changes),
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
            )
        return process, errors

    @asynccontextmanager
    async def serving(self, name: str, **changes: str) -> AsyncIterator[Server]:
        process, errors = await self.spawn(name, **changes)
        try:
            assert process.stdout is not None
            line = (await asyncio.wait_for(process.stdout.readline(), 60)).decode()
            assert line.startswith("Opora is at "), line + errors.read_text()
            async with httpx2.AsyncClient(base_url=line.split()[3], trust_env=False, timeout=30) as http:
                yield Server(process, http, errors)
        finally:
            if process.returncode is None:
                process.terminate()
                await asyncio.wait_for(process.wait(), 30)

    async def run(self, statement: str) -> Any:
        return await self.postgres.run(statement, self.database.partition("?")[0].rpartition("/")[2])

    async def lapse(self, session_id: str, message_id: str) -> None:
        """What time does to the lease of a writer that died."""
        async with Redis.from_url(self.redis) as redis:
            assert await redis.delete(f"{self.prefix}:{session_id}:{message_id}:writer")


@pytest.fixture
async def house(
    tmp_path: Path,
    request: pytest.FixtureRequest,
    postgres_server: PostgresServer,
    postgres_url: str,
    redis_server: Any,
) -> AsyncIterator[House]:
    async with providing() as provider:
        provider.embeds.set()
        yield House(tmp_path, postgres_url, redis_server.url, request.node.name, provider, postgres_server)


@asynccontextmanager
async def both(house: House) -> AsyncIterator[tuple[Server, Server]]:
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(house.serving("one"))
        yield one, await stack.enter_async_context(house.serving("two"))


async def test_brought_in_on_one_found_asked_resumed_and_stopped_on_the_other(house: House) -> None:
    async with both(house) as (one, two), httpx2.AsyncClient(base_url=two.http.base_url, trust_env=False) as third:
        base = await one.post("/knowledge-bases", name="Правила")
        document = await one.upload(base["id"], TEXT)
        assert (await two.ready(document))["parse_status"] == "completed"
        for server in (one, two):
            found = await server.post("/knowledge-search", query=QUESTION, knowledge_base_ids=[base["id"]])
            assert [hit["knowledge_id"] for hit in found] == [document]
            whole = await server.http.get(f"/api/v1/knowledge/{document}/download")
            assert whole.text == TEXT
        session = (await one.post("/sessions", title="Разговор"))["id"]
        async with asking(one.http, session) as asked:
            house.provider.words.put_nowait("Проезд ")
            house.provider.words.put_nowait("возмещают ")
            await asked.until("возмещают ")
            message = asked.events[0]["assistant_message_id"]
            async with continuing(two.http, session, message) as resumed:
                await resumed.until("возмещают ")
                assert resumed.text == asked.text
                assert resumed.kinds == asked.kinds
                assert (await stop(third, session, message)).is_success
                await asyncio.wait_for(resumed.rest(), 20)
            await asyncio.wait_for(asked.rest(), 20)
            assert resumed.text == asked.text
            assert resumed.kinds[-2:] == asked.kinds[-2:] == ["stop", "complete"]
        kept = [await stored(server.http, session, message) for server in (one, two)]
        assert kept[0] == kept[1]
        assert kept[0]["content"] == "Проезд возмещают "
        house.provider.words.put_nowait(None)


async def test_killed_in_the_middle_of_an_answer_the_other_ends_it(house: House) -> None:
    async with both(house) as (one, two):
        session = (await one.post("/sessions", title="Разговор"))["id"]
        base = await one.post("/knowledge-bases", name="Правила")
        await two.ready(await one.upload(base["id"], TEXT))
        async with asking(one.http, session) as asked:
            house.provider.words.put_nowait("Проезд ")
            await asked.until("Проезд ")
            message = asked.events[0]["assistant_message_id"]
            async with continuing(two.http, session, message) as resumed:
                await resumed.until("Проезд ")
                await one.kill()
                await house.lapse(session, message)
                rest = await asyncio.wait_for(resumed.rest(), 60)
        assert rest[-1]["response_type"] == "complete"
        assert rest[-1]["data"]["finish"] == "interrupted"
        kept = await stored(two.http, session, message)
        assert kept["is_completed"]
        async with asking(two.http, session) as again:
            house.provider.words.put_nowait("Снова ")
            house.provider.words.put_nowait(None)
            house.provider.words.put_nowait(None)
            await asyncio.wait_for(again.rest(), 30)
        assert again.events[-1]["data"]["finish"] == "complete"


async def test_killed_in_the_middle_of_a_document_the_other_goes_on_with_it(house: House) -> None:
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(house.serving("one"))
        base = await one.post("/knowledge-bases", name="Правила")
        house.provider.embeds.clear()
        document = await one.upload(base["id"], LONG)
        await asyncio.wait_for(house.provider.asked_to_embed.wait(), 60)
        two = await stack.enter_async_context(house.serving("two"))
        held = await house.run("SELECT 1 FROM work WHERE kind = 'embed' AND lease_owner <> ''")
        assert held, "a server that starts leaves the leases of living ones alone"
        await one.kill()
        await house.run("UPDATE work SET lease_until = now() - interval '1 second'")
        house.provider.embeds.set()
        assert (await two.ready(document))["parse_status"] == "completed"
        found = await two.post("/knowledge-search", query=QUESTION, knowledge_base_ids=[base["id"]])
        assert {hit["knowledge_id"] for hit in found} == {document}
        assert not await house.run("SELECT 1 FROM work")


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"OPORA_SHARED": ""}, "OPORA_SHARED"),
        ({"STREAM_MANAGER_TYPE": "memory"}, "STREAM_MANAGER_TYPE"),
        ({"RETRIEVE_DRIVER": "sqlite"}, "RETRIEVE_DRIVER"),
    ],
)
async def test_one_that_would_not_share_is_kept_out(house: House, changes: dict[str, str], word: str) -> None:
    async with house.serving("one"):
        process, errors = await house.spawn("two", **changes)
        assert process.stdout is not None
        assert await asyncio.wait_for(process.stdout.read(), 60) == b""
        assert await process.wait() != 0
        assert word in errors.read_text()


async def test_redis_gone_in_the_middle_of_an_answer_is_told_and_hangs_nobody(house: House, own_redis: Any) -> None:
    own_redis.start()
    house.redis = own_redis.url
    async with both(house) as (one, two):
        base = await one.post("/knowledge-bases", name="Правила")
        await two.ready(await one.upload(base["id"], TEXT))
        session = (await one.post("/sessions", title="Разговор"))["id"]
        async with asking(one.http, session) as asked:
            house.provider.words.put_nowait("Проезд ")
            await asked.until("Проезд ")
            message = asked.events[0]["assistant_message_id"]
            async with continuing(two.http, session, message) as resumed:
                await resumed.until("Проезд ")
                own_redis.stop()
                house.provider.words.put_nowait("возмещают ")
                for reader in (asked, resumed):
                    events = await asyncio.wait_for(reader.rest(), 60)
                    assert [event["response_type"] for event in events[-2:]] == ["error", "complete"]
                    assert "Redis" in events[-2]["content"]
        own_redis.start()
        for server in (one, two):
            kept = await server.ended(session, message)
            assert kept["content"].startswith("Проезд ")
