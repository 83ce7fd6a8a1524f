"""What every log of answers promises, run against each of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

import pytest

from opora.domain.errors import Conflict, NotFound
from opora.domain.stream import LogState, ResponseType, StreamEvent
from opora.ports import StreamLog
from opora.stream.memory import MemoryStreamLog
from opora.stream.redis import RedisStreamLog

Followed = list[tuple[int, StreamEvent]]


def event(kind: ResponseType, content: str = "", **data: object) -> StreamEvent:
    return StreamEvent(response_type=kind, event_id=kind.value, content=content, data=data)


QUERY = event(ResponseType.AGENT_QUERY)
STOP = event(ResponseType.STOP)
TITLE = event(ResponseType.SESSION_TITLE, "Командировки")
COMPLETE = event(ResponseType.COMPLETE, finish="complete")
PENDING = event(ResponseType.COMPLETE, finish="complete", title_pending=True)
PIECES = [event(ResponseType.ANSWER, f"с{number:02} ") for number in range(40)]


@pytest.fixture(params=["memory", "redis"])
async def log(request: pytest.FixtureRequest) -> AsyncIterator[StreamLog]:
    if request.param == "memory":
        made: Any = MemoryStreamLog(clock=lambda: datetime(2025, 1, 1, tzinfo=UTC))
    else:
        server = request.getfixturevalue("redis_server")
        made = RedisStreamLog.at(server.url, owner="me", prefix=request.node.name)
    yield made
    await made.close()


async def fill(log: StreamLog, *events: StreamEvent, message: str = "m") -> None:
    for one in events:
        await log.append("s", message, one)


async def gather(log: StreamLog, from_offset: int = 0) -> Followed:
    return [item async for item in log.follow("s", "m", from_offset)]


async def begun(log: StreamLog, at: int = 0) -> tuple[asyncio.Task[Followed], Followed]:
    """A reader that has surely read up to the event ``at``, and what it reads."""
    read: Followed = []
    arrived = asyncio.Event()

    async def reading() -> Followed:
        async for item in log.follow("s", "m"):
            read.append(item)
            if item[0] >= at:
                arrived.set()
        return read

    task = asyncio.create_task(reading())
    await asyncio.wait_for(arrived.wait(), 5)
    return task, read


async def test_offsets_count_from_0_and_read_gives_the_next(log: StreamLog) -> None:
    assert [await log.append("s", "m", one) for one in (QUERY, PIECES[0])] == [0, 1]
    assert await log.read("s", "m") == ([QUERY, PIECES[0]], 2)
    assert await log.read("s", "m", 1) == ([PIECES[0]], 2)
    assert await log.read("s", "m", 9) == ([], 2)


async def test_every_reader_gets_every_event_once_whenever_it_comes(log: StreamLog) -> None:
    await fill(log, QUERY)
    readers = []
    for number, piece in enumerate(PIECES):
        if number in (0, 10, 30):
            readers.append((await begun(log, number))[0])
        await fill(log, piece)
    await fill(log, COMPLETE)
    readers.append(asyncio.create_task(gather(log)))
    for reader in readers:
        assert await asyncio.wait_for(reader, 5) == list(enumerate([QUERY, *PIECES, COMPLETE]))


async def test_a_reader_cut_at_every_single_event_loses_and_doubles_nothing(log: StreamLog) -> None:
    whole = [QUERY, *PIECES[:10], COMPLETE]
    await fill(log, *whole)
    for cut in range(len(whole) + 1):
        first = []
        async with aclosing(log.follow("s", "m")) as reading:  # type: ignore[type-var]
            while len(first) < cut:
                first.append(await anext(reading))
        rest = await gather(log, cut)
        assert first + rest == list(enumerate(whole))


async def test_a_reader_that_leaves_changes_nothing_and_leaves_nothing(log: StreamLog) -> None:
    await fill(log, QUERY)
    reader, _ = await begun(log)
    tasks = asyncio.all_tasks()
    for number in range(3):
        other, _ = await begun(log)
        await fill(log, PIECES[number])
        other.cancel()
        await asyncio.gather(other, return_exceptions=True)
    for _ in range(1_000):
        if asyncio.all_tasks() == tasks:
            break
        await asyncio.sleep(0)
    assert asyncio.all_tasks() == tasks
    await fill(log, COMPLETE)
    assert len(await asyncio.wait_for(reader, 5)) == 5


async def test_closing_lets_every_reader_go(log: StreamLog) -> None:
    await fill(log, QUERY)
    reader, _ = await begun(log)
    await log.close()
    assert len(await asyncio.wait_for(reader, 5)) == 1


async def test_offsets_that_the_log_never_reached(log: StreamLog) -> None:
    await fill(log, QUERY, COMPLETE)
    assert await gather(log, 2) == []
    assert await gather(log, 99) == [(1, COMPLETE)]
    assert await gather(log, -5) == [(0, QUERY), (1, COMPLETE)]


async def test_a_reader_ahead_of_a_running_log_gets_what_comes(log: StreamLog) -> None:
    await fill(log, QUERY)
    reading = log.follow("s", "m", 99)
    waiting = asyncio.ensure_future(anext(aiter(reading)))
    other, _ = await begun(log)
    await fill(log, PIECES[0], COMPLETE)
    offset, first = await asyncio.wait_for(waiting, 5)
    assert (offset, first) in ((1, PIECES[0]), (2, COMPLETE))
    assert len(await other) == 3


async def test_unknown_logs_are_not_found(log: StreamLog) -> None:
    await fill(log, QUERY)
    assert await log.exists("s", "m")
    for session, message in (("s", "other"), ("other", "m")):
        assert not await log.exists(session, message)
        assert await log.state(session, message) is LogState.ABSENT
        with pytest.raises(NotFound):
            await log.read(session, message)
        with pytest.raises(NotFound):
            await anext(aiter(log.follow(session, message)))


@pytest.mark.parametrize("early", [STOP, PIECES[0], COMPLETE, TITLE])
async def test_only_the_first_event_begins_a_log(log: StreamLog, early: StreamEvent) -> None:
    """A stop for an answer whose log is gone must not make a new one."""
    with pytest.raises(NotFound):
        await fill(log, early)
    assert not await log.exists("s", "m")


@pytest.mark.parametrize("late", [COMPLETE, PIECES[0], STOP, QUERY])
async def test_nothing_comes_after_complete(log: StreamLog, late: StreamEvent) -> None:
    await fill(log, QUERY, COMPLETE)
    with pytest.raises(Conflict):
        await fill(log, late)
    assert len(await gather(log)) == 2


async def test_one_title_may_come_after_complete_and_readers_wait_when_told(log: StreamLog) -> None:
    await fill(log, QUERY)
    reader, _ = await begun(log)
    await fill(log, PENDING)
    assert len(await gather(log)) == 2, "a reader that comes after complete does not wait"
    await fill(log, TITLE)
    assert (await asyncio.wait_for(reader, 5))[-1] == (2, TITLE)
    assert (await gather(log))[-1] == (2, TITLE)
    with pytest.raises(Conflict):
        await fill(log, TITLE)
    assert await log.state("s", "m") is LogState.COMPLETE


async def test_a_title_before_complete_is_an_event_like_others(log: StreamLog) -> None:
    await fill(log, QUERY, TITLE, COMPLETE)
    assert await gather(log) == list(enumerate([QUERY, TITLE, COMPLETE]))
    assert await log.state("s", "m") is LogState.COMPLETE


async def test_a_log_that_is_written_is_running_and_nobody_can_take_it(log: StreamLog) -> None:
    await fill(log, QUERY)
    assert await log.state("s", "m") is LogState.RUNNING
    assert not await log.take_over("s", "m")
    await fill(log, COMPLETE)
    assert await log.state("s", "m") is LogState.COMPLETE
    assert not await log.take_over("s", "m")


@pytest.mark.parametrize("waits_first", [True, False])
async def test_a_stop_is_heard_whenever_it_was_written(log: StreamLog, waits_first: bool) -> None:
    await fill(log, QUERY)
    if waits_first:
        waiting = asyncio.create_task(log.stop_requested("s", "m"))
        await fill(log, PIECES[0])
        assert not waiting.done()
    await fill(log, STOP, PIECES[1])
    if not waits_first:
        waiting = asyncio.create_task(log.stop_requested("s", "m"))
    await asyncio.wait_for(waiting, 5)


async def test_a_stop_of_another_answer_is_not_ours(log: StreamLog) -> None:
    await fill(log, QUERY)
    await fill(log, QUERY, message="other")
    waiting = asyncio.create_task(log.stop_requested("s", "m"))
    reader, _ = await begun(log)
    await fill(log, STOP, COMPLETE, message="other")
    await fill(log, COMPLETE)
    await asyncio.wait_for(reader, 5)
    assert not waiting.done()
    waiting.cancel()


async def test_a_writer_that_is_cancelled_has_written_before_what_follows(log: StreamLog) -> None:
    """A stop cancels the run in the middle of an append: what it then writes must not come first."""
    await fill(log, QUERY)
    for number in range(20):
        writing = asyncio.create_task(log.append("s", "m", PIECES[number]))
        await asyncio.sleep(0)
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
    await fill(log, COMPLETE)
    assert await gather(log) == list(enumerate([QUERY, *PIECES[:20], COMPLETE]))


async def test_many_readers_that_come_and_go_while_it_is_written(log: StreamLog) -> None:
    await fill(log, QUERY)
    whole = [QUERY, *PIECES, COMPLETE]

    async def patient() -> Followed:
        return await gather(log)

    async def restless(step: int) -> Followed:
        read: Followed = []
        while not read or read[-1][1] != COMPLETE:
            async with aclosing(log.follow("s", "m", len(read))) as reading:  # type: ignore[type-var]
                async for item in reading:
                    read.append(item)
                    if len(read) % step == 0:
                        break
        return read

    readers = [asyncio.create_task(patient()) for _ in range(5)]
    readers += [asyncio.create_task(restless(step)) for step in range(1, 11)]
    await fill(log, *PIECES, COMPLETE)
    for read in await asyncio.wait_for(asyncio.gather(*readers), 20):
        assert read == list(enumerate(whole))
