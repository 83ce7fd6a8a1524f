"""Many answers at once, from the model to the readers' sockets: ``python -m benchmarks.stream_load``.

A whole application serves over real HTTP on a loopback port; its chat model is scripted and says a word every 50 ms.
The readers live in a process of their own, one connection an answer, and take each word's time from the word itself,
so a delay reaches from the model's mouth through pipeline, log, frame and socket to the reader's hands. Every reader
checks that offsets follow each other and that no word is missing.

Beside it, in the same run, a server of the same kind that sends the same words without any of this: no pipeline, no
log, one write a word.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import random
import re
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil
import uvicorn

from benchmarks.measuring import p50, run_as_served, table
from benchmarks.redis_process import redis_process
from opora.api.app import create_app
from opora.api.eventstream import frames_of
from opora.bootstrap import App, Models
from opora.bootstrap.collector import settle_collector
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.domain.stream import ResponseType, StreamEvent
from opora.ports import ChatDelta, ChatMessage, ChatOptions
from opora.settings import Settings

ANSWERS = 500
WORDS = 200
WORDS_A_SECOND = 20
REDIS_SHARE = 10
"""Where Redis is installed a tenth of the answers goes through it: each word is a call to it, and one back."""
REPLAYED = 10_000
REPLAYS = 7
MIB = 1024 * 1024


class PacedChat:
    """Says words that tell when they were said, at a steady pace that begins at a random moment."""

    sees_images = False

    identity = "paced"

    def __init__(self, words: int, begin: asyncio.Event) -> None:
        self._words = words
        self._begin = begin
        self._random = random.Random(7)

    async def stream(self, messages: Sequence[ChatMessage], options: ChatOptions) -> AsyncIterator[ChatDelta]:
        await self._begin.wait()
        async for word in paced(self._words, self._random):
            yield ChatDelta(content=word)
        yield ChatDelta(finish_reason="stop")

    async def close(self) -> None: ...


async def paced(words: int, chance: random.Random) -> AsyncIterator[str]:
    """About so many words, so that not all answers end at once, at a steady pace: a late one does not delay the next.

    Each word says which it is and when it was said, and the last one that it is the last.
    """
    loop = asyncio.get_running_loop()
    length = max(2, int(words * chance.uniform(0.8, 1.2)))
    due = loop.time() + chance.random() / WORDS_A_SECOND
    for number in range(length):
        await asyncio.sleep(max(0.0, due - loop.time()))
        yield f"{'last' if number == length - 1 else 'word'}{number}@{time.perf_counter():.6f} "
        due += 1 / WORDS_A_SECOND


async def plain(
    scope: Any, receive: Any, send: Any, *, words: int, begin: asyncio.Event, chance: random.Random
) -> None:
    """The floor: an application that writes the same words as frames and does nothing else."""
    headers = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await begin.wait()
    offset = 0
    async for word in paced(words, chance):
        body = json.dumps({"id": "r", "content": word, "done": False}, separators=(",", ":"))
        await send(
            {"type": "http.response.body", "body": f"id: {offset}\ndata: {body}\n\n".encode(), "more_body": True}
        )
        offset += 1
    body = json.dumps({"response_type": "complete"}, separators=(",", ":"))
    await send({"type": "http.response.body", "body": f"id: {offset}\ndata: {body}\n\n".encode(), "more_body": False})


# --- the readers' process ---------------------------------------------------------------------------------------


class Reader(asyncio.Protocol):
    """Reads one stream as cheaply as can be: what it takes must not be taken for the server's."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self._rest = b""
        self._offset = -1
        self._is_whole = False
        self.delays: list[float] = []
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        now = time.perf_counter()
        data = self._rest + data
        end = data.rfind(b"\n") + 1
        for offset, kind, number, said_at in _SEEN.findall(data, 0, end):
            if offset:
                if int(offset) != self._offset + 1:
                    self._fail(f"event {int(offset)} behind {self._offset}")
                self._offset += 1
            elif kind:
                if int(number) != len(self.delays):
                    self._fail(f"word {int(number)} behind {len(self.delays)} words")
                self.delays.append((now - float(said_at)) * 1000)
                self._is_whole = kind == b"last"
            elif not self._is_whole:
                self._fail("the answer ended before its last word")
            elif not self.ended.done():
                self.ended.set_result(None)
        self._rest = data[end:]

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail("the stream ended early")

    def _fail(self, message: str) -> None:
        if not self.ended.done():
            self.ended.set_exception(RuntimeError(message))


_SEEN = re.compile(rb'\nid: (\d+)\n|"content":"(word|last)(\d+)@([\d.]+) "|"response_type":"complete"')


def read_all(results: Connection, port: int, requests: list[bytes]) -> None:
    """Run in a process of its own: one connection a request; sends back the delays of all words in milliseconds."""

    async def one(request: bytes) -> list[float]:
        loop = asyncio.get_running_loop()
        transport, reader = await loop.create_connection(lambda: Reader(request), "127.0.0.1", port)
        await reader.ended
        transport.close()
        return reader.delays

    async def everything() -> list[float]:
        found = await asyncio.gather(*(one(request) for request in requests))
        return [delay for delays in found for delay in delays]

    try:
        results.send((run_as_served(everything()), time.process_time()))
    except Exception as exc:
        results.send(exc)


class Server(uvicorn.Server):
    """Says when it takes connections, and leaves signals alone."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_up.set()

    def install_signal_handlers(self) -> None: ...


@asynccontextmanager
async def serving(application: Any) -> AsyncIterator[int]:
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    config = uvicorn.Config(application, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=2)
    server = Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    await server.is_up.wait()
    yield listener.getsockname()[1]
    server.should_exit = True
    await task
    listener.close()


async def delays_of(port: int, requests: list[bytes], ready: asyncio.Event, begin: asyncio.Event) -> dict[str, float]:
    """The delays of all words, and the share of a processor that this process and the readers' took."""
    here, there = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    readers = context.Process(target=read_all, args=(there, port, requests))
    readers.start()
    await ready.wait()
    begun, busy = time.perf_counter(), time.process_time()
    begin.set()
    answer = await asyncio.to_thread(here.recv)
    took, mine = time.perf_counter() - begun, time.process_time() - busy
    await asyncio.to_thread(readers.join)
    if isinstance(answer, Exception):
        raise answer
    delays, theirs = answer
    ordered = sorted(delays)
    return {
        "delay_p50_ms": p50(ordered),
        "delay_p95_ms": ordered[int(len(ordered) * 0.95)],
        "delay_p99_ms": ordered[int(len(ordered) * 0.99)],
        "delay_max_ms": ordered[-1],
        "words": len(ordered),
        "server_processor_share": mine / took,
        "readers_processor_share": theirs / took,
    }


# --- what is measured -------------------------------------------------------------------------------------------


async def whole(folder: Path, answers: int, words: int, redis: str = "") -> dict[str, float]:
    """Every answer through pipeline, log, frames and sockets, with its reader; memory while they run."""
    begin = asyncio.Event()
    chosen: dict[str, Any] = {"data": folder, "embedding": "none", "retrieval": {"max_rounds": 0}}
    if redis:
        chosen |= {"STREAM_MANAGER_TYPE": "redis", "REDIS_URL": redis}
    settings = Settings.model_validate(chosen)
    app = await App.open(settings, models=Models(embedder=None, chat=PacedChat(words, begin)))
    tenant = await app.access.tenant(LOCAL_PRINCIPAL)
    asked = []
    for number in range(answers):
        session = await app.sessions.create(tenant, title=f"load {number}")
        asked.append(await app.chat.ask(tenant, session.session_id, "Question"))
    settle_collector()
    before = psutil.Process().memory_info().rss
    requests = [
        f"GET /api/v1/sessions/continue-stream/{one.session_id}?message_id={one.assistant_message_id} HTTP/1.1\r\n"
        f"Host: localhost\r\n\r\n".encode()
        for one in asked
    ]
    async with serving(create_app(app)) as port:
        figures = await delays_of(port, requests, _all_follow(app, answers), begin)
        after = psutil.Process().memory_info().rss
    await app.close()
    return {"answers": answers} | figures | {"memory_per_stream_kib": (after - before) / answers / 1024}


def _all_follow(app: App, readers: int) -> asyncio.Event:
    """Set as soon as so many readers have begun to follow."""
    follow, everybody = app.log.follow, asyncio.Event()
    begun = 0

    def counted(*arguments: Any) -> Any:
        nonlocal begun
        begun += 1
        if begun == readers:
            everybody.set()
        return follow(*arguments)

    app.log.follow = counted  # type: ignore[method-assign]
    return everybody


async def floor(answers: int, words: int) -> dict[str, float]:
    begin, ready, chance = asyncio.Event(), asyncio.Event(), random.Random(7)
    connected = 0

    async def application(scope: Any, receive: Any, send: Any) -> None:
        nonlocal connected
        connected += 1
        if connected == answers:
            ready.set()
        await plain(scope, receive, send, words=words, begin=begin, chance=chance)

    requests = [b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"] * answers
    async with serving(application) as port:
        return {"answers": answers} | await delays_of(port, requests, ready, begin)


async def replay(folder: Path, events: int) -> dict[str, float]:
    """A long answer that is over, to the last frame of a reader that comes for it, in milliseconds."""
    app = await App.open(Settings(data=folder, embedding="none"))
    scope = await app.access.tenant(LOCAL_PRINCIPAL)
    await app.log.append("s", "m", StreamEvent(response_type=ResponseType.AGENT_QUERY))
    for number in range(events - 2):
        event = StreamEvent(response_type=ResponseType.ANSWER, event_id="answer", content=f"слово {number} ")
        await app.log.append("s", "m", event)
    await app.log.append("s", "m", StreamEvent(response_type=ResponseType.COMPLETE, done=True))
    took, frames = [], 0
    for _ in range(REPLAYS):
        begun = time.perf_counter()
        frames = 0
        async for _frame in frames_of(app, scope, session_id="s", message_id="m", request_id="r"):
            frames += 1
        took.append((time.perf_counter() - begun) * 1000)
    await app.close()
    return {"events": events, "frames": frames, "replay_p50_ms": p50(took), "replay_max_ms": max(took)}


async def measure(*, answers: int, words: int, replayed: int) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="opora-load-") as folder, redis_process() as redis:
        figures["floor"] = await floor(answers, words)
        figures["whole"] = await whole(Path(folder) / "load", answers, words)
        if redis:
            few = max(1, answers // REDIS_SHARE)
            figures["whole, log in Redis"] = await whole(Path(folder) / "redis", few, words, redis)
        figures["replay"] = await replay(Path(folder) / "replay", replayed)
    return figures


def run(*, answers: int = ANSWERS, words: int = WORDS, replayed: int = REPLAYED) -> dict[str, Any]:
    """Delays of every word at its reader; memory of a stream; a long log read again."""
    return run_as_served(measure(answers=answers, words=words, replayed=replayed))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=ANSWERS)
    parser.add_argument("--words", type=int, default=WORDS)
    parser.add_argument("--replayed", type=int, default=REPLAYED)
    arguments = parser.parse_args()
    print(table(run(answers=arguments.answers, words=arguments.words, replayed=arguments.replayed)))


if __name__ == "__main__":
    main()
