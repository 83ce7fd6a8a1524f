"""What is there is sent at once and joined; a reader that leaves takes everything that served it along."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

from opora.api.eventstream import EventStream, frames_of
from opora.domain.scope import LOCAL_PRINCIPAL, Scope
from opora.domain.stream import ResponseType, StreamEvent
from opora.stream.memory import MemoryStreamLog

SCOPE = Scope(principal=LOCAL_PRINCIPAL)
QUERY = StreamEvent(response_type=ResponseType.AGENT_QUERY)
COMPLETE = StreamEvent(response_type=ResponseType.COMPLETE, done=True, data={"finish": "complete"})


def word(text: str) -> StreamEvent:
    return StreamEvent(response_type=ResponseType.ANSWER, event_id="answer", content=text)


class Chat:
    """Follows the log, and replays a stored answer where there is none, as the chat service does."""

    def __init__(self, log: MemoryStreamLog, stored: list[StreamEvent]) -> None:
        self.log = log
        self.stored = stored

    async def follow(
        self, scope: Scope, session_id: str, message_id: str, from_offset: int = 0
    ) -> AsyncIterator[tuple[int, StreamEvent]]:
        if await self.log.exists(session_id, message_id):
            async for item in self.log.follow(session_id, message_id, from_offset):
                yield item
            return
        for item in list(enumerate(self.stored))[from_offset:]:
            yield item


class Application:
    def __init__(self, *stored: StreamEvent) -> None:
        self.log = MemoryStreamLog(clock=lambda: datetime(2025, 1, 1, tzinfo=UTC))
        self.chat = Chat(self.log, list(stored))

    async def append(self, *events: StreamEvent) -> None:
        for event in events:
            await self.log.append("s", "m", event)

    def frames(self, from_offset: int = 0) -> Any:
        app: Any = self
        return frames_of(app, SCOPE, session_id="s", message_id="m", request_id="r", from_offset=from_offset)


def read(frame: bytes) -> tuple[int, str, str]:
    first, _, data = frame.decode().rstrip("\n").split("\n")
    body = json.loads(data.removeprefix("data: "))
    return int(first.removeprefix("id: ")), body["response_type"], body["content"]


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_replay_is_joined_and_live_words_come_one_by_one() -> None:
    app = Application()
    await app.append(QUERY, word("a"), word("b"))
    frames = app.frames()
    assert [read(await anext(frames)) for _ in range(2)] == [(0, "agent_query", ""), (2, "answer", "ab")]
    await app.append(word("c"), word("d"), COMPLETE)
    assert [read(frame) async for frame in frames] == [
        (3, "answer", "c"),
        (4, "answer", "d"),
        (5, "complete", ""),
    ]


async def test_resuming_in_the_middle_and_at_the_end() -> None:
    app = Application()
    await app.append(QUERY, word("a"), word("b"), COMPLETE)
    assert [read(frame) async for frame in app.frames(2)] == [(2, "answer", "b"), (3, "complete", "")]
    assert [read(frame) async for frame in app.frames(4)] == []
    assert [read(frame) async for frame in app.frames(99)] == [(3, "complete", "")]


async def test_without_its_log_an_answer_is_replayed_from_what_is_stored() -> None:
    app = Application(QUERY, word("ab"), COMPLETE)
    assert [kind for _, kind, _ in [read(frame) async for frame in app.frames()]] == [
        "agent_query",
        "answer",
        "complete",
    ]
    assert [kind for _, kind, _ in [read(frame) async for frame in app.frames(40)]] == ["complete"]


class Connection:
    """Both ends of one request, in the hands of the test."""

    def __init__(self) -> None:
        self.left = asyncio.Event()
        self.sent: list[dict[str, Any]] = []

    async def receive(self) -> dict[str, Any]:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)


async def test_a_reader_that_leaves_leaves_nothing_behind() -> None:
    before = asyncio.all_tasks()
    app, connection = Application(), Connection()
    await app.append(QUERY)
    frames = app.frames()
    serving = asyncio.create_task(EventStream(frames)({"type": "http"}, connection.receive, connection.send))
    await settle()
    assert b"agent_query" in connection.body
    connection.left.set()
    await asyncio.wait_for(serving, 5)
    await settle()
    assert asyncio.all_tasks() == before
    assert [frame async for frame in frames] == []
    await app.append(word("a"), COMPLETE)


async def test_the_stream_ends_behind_complete_and_leaves_nothing_behind() -> None:
    before = asyncio.all_tasks()
    app, connection = Application(), Connection()
    await app.append(QUERY, COMPLETE)
    await EventStream(app.frames())({"type": "http"}, connection.receive, connection.send)
    assert connection.sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}
    await settle()
    assert asyncio.all_tasks() == before


async def test_a_broken_connection_is_no_failure() -> None:
    app, connection = Application(), Connection()
    await app.append(QUERY, COMPLETE)
    before = asyncio.all_tasks()

    async def broken(message: Any) -> None:
        raise OSError("reset")

    await EventStream(app.frames())({"type": "http"}, connection.receive, broken)
    await settle()
    assert asyncio.all_tasks() == before


async def test_a_quiet_stream_is_kept_open() -> None:
    app, connection = Application(), Connection()
    await app.append(QUERY)
    beaten = asyncio.Event()

    async def send(message: Any) -> None:
        await connection.send(message)
        if message.get("body", b"").startswith(b":"):
            beaten.set()

    stream = EventStream(app.frames(), keep_alive=0.01)
    serving = asyncio.create_task(stream({"type": "http"}, connection.receive, send))
    await asyncio.wait_for(beaten.wait(), 5)
    await app.append(COMPLETE)
    await asyncio.wait_for(serving, 5)
    assert b"complete" in connection.body


async def test_headers_of_the_stream() -> None:
    headers = EventStream(Application().frames()).headers
    assert headers["content-type"] == "text/event-stream; charset=utf-8"
    assert headers["cache-control"] == "no-cache"
    assert headers["connection"] == "keep-alive"
    assert headers["x-accel-buffering"] == "no"
