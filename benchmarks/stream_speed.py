"""How fast events reach the followers of an answer: ``python -m benchmarks.stream_speed``.

200 readers follow one log in memory. Beside it, in the same run, the simplest thing that could serve them: a queue a
reader, each event put into all of them. That keeps nothing and replays nothing; it is the floor.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import time
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from benchmarks.measuring import p50, p95, run_as_served, table
from opora.domain.stream import ResponseType, StreamEvent
from opora.stream.memory import MemoryStreamLog

FOLLOWERS = 200
EVENTS = 400
PAUSE = 0.02
"""Seconds between events: 50 a second, as a chat model writes."""
LOGS, LOG_EVENTS = 200, 100
KEY = ("session", "message")
Follow = Callable[[], AsyncIterator[StreamEvent]]
Append = Callable[[StreamEvent], Awaitable[object]]


def now() -> datetime:
    return datetime.now(UTC)


def delta(number: int) -> StreamEvent:
    return StreamEvent(
        response_type=ResponseType.ANSWER, event_id="answer", content="слово ", data={"at": time.perf_counter()}
    )


def complete() -> StreamEvent:
    return StreamEvent(response_type=ResponseType.COMPLETE, done=True, data={"at": time.perf_counter()})


class Queues:
    """The floor: a queue for each reader."""

    def __init__(self) -> None:
        self._queues: list[asyncio.Queue[StreamEvent]] = []

    async def append(self, event: StreamEvent) -> None:
        for queue in self._queues:
            queue.put_nowait(event)

    async def follow(self) -> AsyncIterator[StreamEvent]:
        queue: asyncio.Queue[StreamEvent] = asyncio.Queue()
        self._queues.append(queue)
        while (event := await queue.get()).response_type is not ResponseType.COMPLETE:
            yield event


async def broadcast(
    append: Append, follow: Follow, *, followers: int, events: int, pause: float
) -> tuple[float, list[float]]:
    """Seconds that it took in all, and the delay in milliseconds of every event at every follower."""
    delays: list[float] = []
    ready = asyncio.Event()
    waiting = followers

    async def reader() -> int:
        nonlocal waiting
        waiting -= 1
        if waiting == 0:
            ready.set()
        got = 0
        async for event in follow():
            delays.append((time.perf_counter() - event.data["at"]) * 1000)
            got += event.response_type is ResponseType.ANSWER
        return got

    tasks = [asyncio.create_task(reader()) for _ in range(followers)]
    await ready.wait()
    begun = time.perf_counter()
    for number in range(events):
        await append(delta(number))
        await asyncio.sleep(pause)
    await append(complete())
    got = await asyncio.gather(*tasks)
    if got != [events] * followers:
        raise RuntimeError("a follower missed an event")
    return time.perf_counter() - begun, delays


async def _by_log(*, followers: int, events: int, pause: float) -> tuple[float, list[float]]:
    log = MemoryStreamLog(clock=now)
    await log.append(*KEY, StreamEvent(response_type=ResponseType.AGENT_QUERY, data={"at": time.perf_counter()}))

    async def follow() -> AsyncIterator[StreamEvent]:
        async for _, event in log.follow(*KEY, 1):
            yield event

    return await broadcast(
        lambda event: log.append(*KEY, event), follow, followers=followers, events=events, pause=pause
    )


async def _by_queues(*, followers: int, events: int, pause: float) -> tuple[float, list[float]]:
    queues = Queues()
    return await broadcast(queues.append, queues.follow, followers=followers, events=events, pause=pause)


async def _memory(logs: int, events: int) -> dict[str, float]:
    """Bytes that a finished log of short deltas really takes, beside what the log itself reckons."""
    gc.collect()
    tracemalloc.start()
    log = MemoryStreamLog(clock=now)
    for number in range(logs):
        await log.append("session", str(number), StreamEvent(response_type=ResponseType.AGENT_QUERY))
        for place in range(events - 2):
            event = StreamEvent(response_type=ResponseType.ANSWER, event_id="answer", content=f"слово {place} ")
            await log.append("session", str(number), event)
        await log.append("session", str(number), StreamEvent(response_type=ResponseType.COMPLETE, done=True))
    gc.collect()
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return {
        "log_of_100_events_kb": taken / logs / 1024,
        "reckoned_kb": log.stored_bytes / logs / 1024,
        "reckoned_to_taken": log.stored_bytes / taken,
    }


async def measure(*, followers: int, events: int) -> dict[str, Any]:
    flat_out, paced = {}, {}
    for name, way in (("log", _by_log), ("queues", _by_queues)):
        seconds, _ = await way(followers=followers, events=events, pause=0)
        flat_out[name] = events * followers / seconds
        _, paced[name] = await way(followers=followers, events=events // 4, pause=PAUSE)
    return {
        "followers": followers,
        "delivered_per_s": flat_out["log"],
        "queues_delivered_per_s": flat_out["queues"],
        "rate_to_queues": flat_out["log"] / flat_out["queues"],
        "delay_p50_ms": p50(paced["log"]),
        "delay_p95_ms": p95(paced["log"]),
        "queues_delay_p50_ms": p50(paced["queues"]),
        "delay_to_queues": p50(paced["log"]) / p50(paced["queues"]),
    } | await _memory(LOGS, LOG_EVENTS)


def run(*, followers: int = FOLLOWERS, events: int = EVENTS) -> dict[str, Any]:
    """Events flat out in deliveries a second; delays at 50 events a second."""
    return run_as_served(measure(followers=followers, events=events))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--followers", type=int, default=FOLLOWERS)
    parser.add_argument("--events", type=int, default=EVENTS)
    arguments = parser.parse_args()
    print(table(run(followers=arguments.followers, events=arguments.events)))


if __name__ == "__main__":
    main()
