"""What the doors of the retriever add to a search: ``python -m benchmarks.retriever_doors``.

A real installation on SQLite files with about 1,000 chunks and an embedder without a model. Each question is asked by a
direct call of the room and over HTTP, in turns: a real server on a loopback port, in the same process, and a client
that does no more than it must over one kept connection. The difference of each pair is what the door adds: reading the
request, deciding what the caller may touch, writing the answer, and both ways through the socket.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import socket
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Self

import uvicorn

from benchmarks.chat_speed import House, build
from benchmarks.measuring import p50, p95, run_as_served, table
from opora.api.app import create_app
from opora.domain.context import ContextQuery
from opora.domain.search import SearchMode

CHUNKS = 1_000
QUESTIONS = 200
AT_ONCE = 8
"""Callers at once where searches a second are counted."""

Way = Callable[[str, SearchMode], Awaitable[int]]
"""Asks one question; gives how many results came."""


class Client:
    """One kept connection that speaks just enough HTTP."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def connect(cls, port: int) -> Self:
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def ask(self, question: str, mode: SearchMode) -> int:
        body = json.dumps({"query": question, "search_type": mode.value}, ensure_ascii=False).encode()
        head = "POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        self._writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answered = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        if not answered.startswith(b"http/1.1 200"):
            raise RuntimeError(answered.decode())
        length = int(answered.partition(b"content-length:")[2].partition(b"\r\n")[0])
        count: int = json.loads(await self._reader.readexactly(length))["results_count"]
        return count

    def close(self) -> None:
        self._writer.close()


class Served(uvicorn.Server):
    """Says when it takes connections, and leaves signals alone."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_ready.set()

    def install_signal_handlers(self) -> None: ...


async def measure(*, chunks: int, questions: int) -> dict[str, dict[str, float]]:
    with tempfile.TemporaryDirectory(prefix="opora-bench-") as folder:
        app, house = await build(Path(folder) / "data", chunks)
        listener = socket.create_server(("127.0.0.1", 0))
        server = Served(
            uvicorn.Config(
                create_app(app), log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=1
            )
        )
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            await server.is_ready.wait()
            return await _all_modes(house, listener.getsockname()[1], questions)
        finally:
            server.should_exit = True
            await serving
            await app.close()


async def _all_modes(house: House, port: int, questions: int) -> dict[str, dict[str, float]]:
    chance = random.Random(13)
    asked = [house.prose.question(sentence) for sentence in chance.choices(house.sentences, k=questions)]

    async def direct(question: str, mode: SearchMode) -> int:
        query = ContextQuery(question=question, search_type=mode)
        return (await house.app.context.search(house.scope, query)).results_count

    async with AsyncExitStack() as stack:
        clients = [await Client.connect(port) for _ in range(AT_ONCE)]
        for client in clients:
            stack.callback(client.close)
        figures = {}
        for mode in SearchMode:
            pairs = await _in_turns(direct, clients[0].ask, asked, mode)
            figures[mode.value] = {
                **pairs,
                "direct_per_s": await _per_second([direct] * AT_ONCE, asked, mode),
                "http_per_s": await _per_second([client.ask for client in clients], asked, mode),
            }
        return figures


async def _in_turns(direct: Way, door: Way, asked: Sequence[str], mode: SearchMode) -> dict[str, float]:
    """Which way comes first changes from question to question."""
    ways = (direct, door)
    taken: dict[Way, list[float]] = {direct: [], door: []}
    for question in asked[:10]:
        if await direct(question, mode) != await door(question, mode):
            raise RuntimeError("the door gives something else than the room")
    for place, question in enumerate(asked):
        for way in ways if place % 2 else ways[::-1]:
            begun = time.perf_counter()
            await way(question, mode)
            taken[way].append((time.perf_counter() - begun) * 1000)
    return {
        "direct_p50_ms": p50(taken[direct]),
        "direct_p95_ms": p95(taken[direct]),
        "http_p50_ms": p50(taken[door]),
        "http_p95_ms": p95(taken[door]),
        "http_adds_p50_ms": p50([late - early for late, early in zip(taken[door], taken[direct], strict=True)]),
    }


async def _per_second(ways: Sequence[Way], asked: Sequence[str], mode: SearchMode) -> float:
    """All questions, shared out to callers that work at once."""

    async def caller(way: Way, mine: Sequence[str]) -> None:
        for question in mine:
            await way(question, mode)

    begun = time.perf_counter()
    await asyncio.gather(*(caller(way, asked[place :: len(ways)]) for place, way in enumerate(ways)))
    return len(asked) / (time.perf_counter() - begun)


def run(*, chunks: int = CHUNKS, questions: int = QUESTIONS) -> dict[str, dict[str, float]]:
    """Figures by way of searching; milliseconds, and searches a second."""
    return run_as_served(measure(chunks=chunks, questions=questions))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=CHUNKS)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    arguments = parser.parse_args()
    print(table(run(chunks=arguments.chunks, questions=arguments.questions)))


if __name__ == "__main__":
    main()
