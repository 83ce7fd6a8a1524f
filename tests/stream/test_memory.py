"""Events are appended once and followed by any number of readers, who come late, leave early and leave nothing."""

import asyncio
import gc
from contextlib import aclosing
from datetime import UTC, datetime, timedelta

import pytest

from opora.domain.errors import Busy, Conflict, NotFound
from opora.domain.stream import ResponseType, StreamEvent
from opora.stream.memory import MemoryStreamLog

Followed = list[tuple[int, StreamEvent]]


class Time:
    def __init__(self) -> None:
        self.now = datetime(2025, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_(self, **period: float) -> None:
        self.now += timedelta(**period)


def event(kind: ResponseType, content: str = "", **data: object) -> StreamEvent:
    return StreamEvent(response_type=kind, event_id=kind.value, content=content, data=data)


QUERY = event(ResponseType.AGENT_QUERY)
COMPLETE = event(ResponseType.COMPLETE, finish="complete")
PIECES = [event(ResponseType.ANSWER, f"с{number:02} ") for number in range(40)]


async def fill(log: MemoryStreamLog, *events: StreamEvent, message: str = "m") -> None:
    for one in events:
        await log.append("s", message, one)


async def gather(log: MemoryStreamLog, from_offset: int = 0) -> Followed:
    return [item async for item in log.follow("s", "m", from_offset)]


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def log(time: Time) -> MemoryStreamLog:
    return MemoryStreamLog(clock=time)


async def test_offsets_count_from_0_and_read_gives_the_next(log: MemoryStreamLog) -> None:
    assert [await log.append("s", "m", one) for one in (QUERY, PIECES[0])] == [0, 1]
    assert await log.read("s", "m") == ([QUERY, PIECES[0]], 2)
    assert await log.read("s", "m", 1) == ([PIECES[0]], 2)
    assert await log.read("s", "m", 9) == ([], 2)


async def test_every_reader_gets_every_event_once_whenever_it_comes(log: MemoryStreamLog) -> None:
    await fill(log, QUERY)
    readers: list[asyncio.Task[Followed]] = []
    for number, piece in enumerate(PIECES):
        if number in (0, 10, 30):
            readers.append(asyncio.create_task(gather(log)))
            await settle()
        await fill(log, piece)
    await fill(log, COMPLETE)
    readers.append(asyncio.create_task(gather(log)))
    expected = list(enumerate([QUERY, *PIECES, COMPLETE]))
    for reader in readers:
        assert await asyncio.wait_for(reader, 5) == expected


async def test_a_reader_that_leaves_changes_nothing_and_leaves_nothing(log: MemoryStreamLog) -> None:
    before = len(asyncio.all_tasks())
    await fill(log, QUERY, *PIECES[:10])
    async with aclosing(log.follow("s", "m")) as reader:
        assert await anext(reader) == (0, QUERY)
    waiting = asyncio.create_task(gather(log))
    await settle()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await fill(log, *PIECES[10:], COMPLETE)
    assert len(await gather(log)) == 42
    gc.collect()
    await settle()
    assert len(asyncio.all_tasks()) == before


async def test_resuming_behind_an_offset_repeats_nothing(log: MemoryStreamLog) -> None:
    await fill(log, QUERY, *PIECES, COMPLETE)
    assert [offset for offset, _ in await gather(log, 40)] == [40, 41]
    assert await gather(log, 42) == []


async def test_an_offset_of_another_log_is_taken_back_to_the_last_event(log: MemoryStreamLog) -> None:
    await fill(log, QUERY, COMPLETE)
    assert await gather(log, 99) == [(1, COMPLETE)]
    assert await gather(log, -5) == [(0, QUERY), (1, COMPLETE)]


async def test_unknown_logs_are_not_found(log: MemoryStreamLog) -> None:
    await fill(log, QUERY)
    assert await log.exists("s", "m")
    for session, message in (("s", "other"), ("other", "m")):
        assert not await log.exists(session, message)
        with pytest.raises(NotFound):
            await log.read(session, message)
        with pytest.raises(NotFound):
            await anext(aiter(log.follow(session, message)))


@pytest.mark.parametrize("late", [COMPLETE, PIECES[0], event(ResponseType.STOP)])
async def test_nothing_comes_after_complete(log: MemoryStreamLog, late: StreamEvent) -> None:
    await fill(log, QUERY, COMPLETE)
    with pytest.raises(Conflict):
        await fill(log, late)
    assert len(await gather(log)) == 2


async def test_a_title_may_come_for_three_seconds_and_readers_wait_when_told(log: MemoryStreamLog, time: Time) -> None:
    title = event(ResponseType.SESSION_TITLE, "Командировки")
    await fill(log, QUERY)
    reader = asyncio.create_task(gather(log))
    await settle()
    await fill(log, event(ResponseType.COMPLETE, title_pending=True))
    await settle()
    assert not reader.done()
    assert len(await gather(log)) == 2, "a reader that comes after complete does not wait"
    time.pass_(seconds=3)
    await fill(log, title)
    assert (await asyncio.wait_for(reader, 5))[-1] == (2, title)
    with pytest.raises(Conflict):
        await fill(log, title)


async def test_a_title_after_three_seconds_is_too_late(time: Time) -> None:
    log = MemoryStreamLog(clock=time, title_wait=3.0)
    await fill(log, QUERY, COMPLETE)
    time.pass_(seconds=3.01)
    with pytest.raises(Conflict):
        await fill(log, event(ResponseType.SESSION_TITLE))


async def test_readers_wait_for_a_title_no_longer_than_the_parameter(time: Time) -> None:
    log = MemoryStreamLog(clock=time, title_wait=0.01)
    await fill(log, QUERY)
    reader = asyncio.create_task(gather(log))
    await settle()
    await fill(log, event(ResponseType.COMPLETE, title_pending=True))
    assert len(await asyncio.wait_for(reader, 5)) == 2


async def test_a_log_is_kept_for_an_hour_from_its_last_event(log: MemoryStreamLog, time: Time) -> None:
    await fill(log, QUERY)
    time.pass_(minutes=59)
    await fill(log, PIECES[0])
    time.pass_(minutes=59)
    assert await log.exists("s", "m")
    time.pass_(minutes=1)
    assert not await log.exists("s", "m")
    assert (len(log), log.stored_bytes) == (0, 0)


async def test_a_reader_of_a_log_whose_run_died_is_let_go(log: MemoryStreamLog, time: Time) -> None:
    await fill(log, QUERY)
    reader = asyncio.create_task(gather(log))
    await settle()
    time.pass_(hours=2)
    await fill(log, QUERY, message="another")
    assert await asyncio.wait_for(reader, 5) == [(0, QUERY)]


async def test_a_silent_log_lets_its_readers_go_though_nobody_else_appends(time: Time) -> None:
    log = MemoryStreamLog(clock=time, ttl=timedelta(milliseconds=300))
    await fill(log, QUERY)
    readers = [asyncio.create_task(gather(log)) for _ in range(3)]
    await settle()
    await fill(log, PIECES[0])
    for reader in readers:
        assert len(await asyncio.wait_for(reader, 5)) == 2


async def test_a_log_that_is_over_keeps_no_timer(log: MemoryStreamLog) -> None:
    await fill(log, QUERY)
    reader = asyncio.create_task(gather(log))
    await settle()
    (kept,) = log._logs.values()
    assert kept.watch is not None
    await fill(log, COMPLETE)
    await reader
    assert kept.watch.cancelled()


async def test_finished_logs_make_room_and_running_ones_stay(time: Time) -> None:
    log = MemoryStreamLog(clock=time, max_logs=2)
    await fill(log, QUERY, COMPLETE, message="done")
    await fill(log, QUERY, message="running")
    await fill(log, PIECES[0], message="running")
    assert await log.exists("s", "done"), "an append to a log that is there needs no room for another"
    await fill(log, QUERY, message="new")
    assert [await log.exists("s", message) for message in ("done", "running", "new")] == [False, True, True]
    with pytest.raises(Busy):
        await fill(log, QUERY, message="one too many")
    await fill(log, PIECES[0], COMPLETE, message="running")


async def test_memory_stays_bounded_over_many_answers(time: Time) -> None:
    log = MemoryStreamLog(clock=time, max_bytes=100_000)
    for number in range(300):
        await fill(log, QUERY, *PIECES[:5], COMPLETE, message=str(number))
        assert log.stored_bytes <= 100_000
    assert len(log) < 40
    assert await log.exists("s", "299")
