"""What the doors for assistants and over the broker add to a search: ``python -m benchmarks.other_doors``.

As in `benchmarks.retriever_doors`: a real installation on SQLite files, an embedder without a model, each question
asked by a direct call of the room and through a door in turns. NATS is a real server on loopback, with its own client;
MCP is spoken over HTTP by the official client, to a server in the same process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import nats
import uvicorn
from mcp.client.streamable_http import streamable_http_client

from benchmarks.chat_speed import House, build
from benchmarks.measuring import p50, p95, run_as_served, table
from benchmarks.nats_process import nats_process
from benchmarks.retriever_doors import Served, Way
from mcp import ClientSession
from opora.bootstrap.buses import _doors
from opora.bus.connection import Bus
from opora.cli.server import application
from opora.domain.context import ContextQuery
from opora.domain.search import SearchMode

CHUNKS = 1_000
QUESTIONS = 150


async def measure(*, chunks: int, questions: int) -> dict[str, dict[str, float]]:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="opora-bench-")))
        app, house = await build(folder / "data", chunks)
        stack.push_async_callback(app.close)
        chance = random.Random(13)
        asked = [house.prose.question(sentence) for sentence in chance.choices(house.sentences, k=questions)]
        over_nats = await stack.enter_async_context(_over_nats(house))
        over_mcp = await stack.enter_async_context(_over_mcp(house))

        async def direct(question: str, mode: SearchMode) -> int:
            query = ContextQuery(question=question, search_type=mode)
            return (await house.app.context.search(house.scope, query)).results_count

        figures = {}
        for mode in SearchMode:
            by_nats = await _in_turns(direct, over_nats, asked, mode, "nats")
            by_mcp = await _in_turns(direct, over_mcp, asked, mode, "mcp")
            figures[mode.value] = by_nats | by_mcp
        return figures


async def _in_turns(direct: Way, door: Way, asked: Sequence[str], mode: SearchMode, name: str) -> dict[str, float]:
    taken: dict[Way, list[float]] = {direct: [], door: []}
    for question in asked[:10]:
        if await direct(question, mode) != await door(question, mode):
            raise RuntimeError("the door gives something else than the room")
    for place, question in enumerate(asked):
        for way in (direct, door) if place % 2 else (door, direct):
            begun = time.perf_counter()
            await way(question, mode)
            taken[way].append((time.perf_counter() - begun) * 1000)
    added = [late - early for late, early in zip(taken[door], taken[direct], strict=True)]
    return {
        f"{name}_direct_p50_ms": p50(taken[direct]),
        f"{name}_p50_ms": p50(taken[door]),
        f"{name}_p95_ms": p95(taken[door]),
        f"{name}_adds_p50_ms": p50(added),
    }


@asynccontextmanager
async def _over_nats(house: House) -> AsyncIterator[Way]:
    with nats_process() as url:
        bus = Bus(url, doors=_doors(house.app))
        bus.start()
        await bus.connected()
        client = await nats.connect(url)

        async def ask(question: str, mode: SearchMode) -> int:
            body = json.dumps({"query": question, "search_type": mode.value}, ensure_ascii=False).encode()
            return int(json.loads((await client.request("context.search", body, timeout=30)).data)["results_count"])

        yield ask
        await client.close()
        await bus.close()


@asynccontextmanager
async def _over_mcp(house: House) -> AsyncIterator[Way]:
    listener = socket.create_server(("127.0.0.1", 0))
    async with application(house.app) as http:
        server = Served(uvicorn.Config(http, log_config=None, access_log=False, lifespan="off"))
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        await server.is_ready.wait()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        async with (
            httpx2.AsyncClient(timeout=30) as client,
            streamable_http_client(address, http_client=client) as (reading, writing),
            ClientSession(reading, writing) as session,
        ):
            await session.initialize()

            async def ask(question: str, mode: SearchMode) -> int:
                result: Any = await session.call_tool("context_search", {"query": question, "search_type": mode.value})
                return int(result.structured_content["results_count"])

            yield ask
        server.should_exit = True
        await serving


def run(*, chunks: int = CHUNKS, questions: int = QUESTIONS) -> dict[str, dict[str, float]]:
    return run_as_served(measure(chunks=chunks, questions=questions))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=CHUNKS)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    given = parser.parse_args()
    results = run(chunks=given.chunks, questions=given.questions)
    print(table(results))
    print(json.dumps(results))


if __name__ == "__main__":
    main()
