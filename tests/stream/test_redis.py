"""The log in Redis: as described, shared between processes, woken and not polling, and never a hang when it fails."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from opora.domain.errors import Conflict, NotFound, Unavailable
from opora.domain.stream import LogState, ResponseType, StreamEvent
from opora.stream.redis import RedisStreamLog
from opora.stream.redis_wakes import Lost, Wakes

Followed = list[tuple[int, StreamEvent]]
MakeLog = Callable[..., RedisStreamLog]
PATIENCE = 0.3


def event(kind: ResponseType, content: str = "", **data: object) -> StreamEvent:
    return StreamEvent(response_type=kind, content=content, data=data)


QUERY = event(ResponseType.AGENT_QUERY)
STOP = event(ResponseType.STOP)
COMPLETE = event(ResponseType.COMPLETE, finish="complete")
PIECES = [event(ResponseType.ANSWER, f"с{number:02} ") for number in range(40)]


@pytest.fixture
async def logs(request: pytest.FixtureRequest) -> AsyncIterator[MakeLog]:
    """Makes logs on a server, closed at the end."""
    made: list[RedisStreamLog] = []

    def make(url: str, owner: str = "me", **options: Any) -> RedisStreamLog:
        options = {"prefix": request.node.name, "patience": PATIENCE} | options
        made.append(RedisStreamLog.at(url, owner=owner, **options))
        return made[-1]

    yield make
    for log in made:
        await log.close()


async def fill(log: RedisStreamLog, *events: StreamEvent) -> None:
    for one in events:
        await log.append("s", "m", one)


async def following(log: RedisStreamLog, at: int = 0) -> asyncio.Task[Followed]:
    """A reader that has surely read up to the event ``at``."""
    arrived = asyncio.Event()

    async def reading() -> Followed:
        read: Followed = []
        async for item in log.follow("s", "m"):
            read.append(item)
            if item[0] >= at:
                arrived.set()
        return read

    task = asyncio.create_task(reading())
    await asyncio.wait_for(arrived.wait(), 5)
    return task


@pytest.mark.parametrize(("prefix", "key"), [("", "stream:events:s:m"), ("mine", "mine:s:m")])
async def test_a_list_under_the_described_key_for_an_hour_from_the_last_event(
    redis_server: Any, logs: MakeLog, prefix: str, key: str
) -> None:
    log = logs(redis_server.url, prefix=prefix)
    async with Redis.from_url(redis_server.url) as redis:
        await redis.flushdb()
        await fill(log, QUERY, PIECES[0])
        assert await redis.type(key) == b"list"
        assert await redis.llen(key) == 2
        assert 3_590 <= await redis.ttl(key) <= 3_600
        await redis.expire(key, 10)
        await fill(log, PIECES[1])
        assert await redis.ttl(key) >= 3_590


async def test_the_time_it_is_kept_is_a_parameter(redis_server: Any, logs: MakeLog) -> None:
    log = logs(redis_server.url, prefix="short", ttl=timedelta(seconds=7))
    await fill(log, QUERY, COMPLETE)
    async with Redis.from_url(redis_server.url) as redis:
        assert 6 <= await redis.ttl("short:s:m") <= 7


async def test_a_title_after_the_wait_is_too_late(redis_server: Any, logs: MakeLog) -> None:
    log = logs(redis_server.url, title_wait=-1.0)
    await fill(log, QUERY, COMPLETE)
    with pytest.raises(Conflict):
        await fill(log, event(ResponseType.SESSION_TITLE))


async def test_followers_are_woken_and_do_not_poll(redis_server: Any, logs: MakeLog) -> None:
    """However long nothing comes, nothing is asked: each reading has an append before it."""
    log = logs(redis_server.url)
    async with Redis.from_url(redis_server.url) as redis:
        await fill(log, QUERY)
        await redis.config_resetstat()
        reader = await following(log)
        for number in range(5):
            await fill(log, PIECES[number])
        await fill(log, COMPLETE)
        assert len(await asyncio.wait_for(reader, 5)) == 7
        stats = await redis.info("commandstats")
        # One look gives two readings; there are at most as many looks as wakes, and one at the beginning.
        assert stats["cmdstat_llen"]["calls"] <= 6 + 7
        assert stats["cmdstat_publish"]["calls"] == 6


@pytest.mark.slow
async def test_written_in_one_process_followed_and_stopped_from_another(redis_server: Any, logs: MakeLog) -> None:
    log = logs(redis_server.url, prefix="apart")
    program = [sys.executable, str(Path(__file__).with_name("writer_child.py")), redis_server.url, "apart", "20"]
    other = await asyncio.create_subprocess_exec(*program, stdout=asyncio.subprocess.PIPE)
    try:
        assert other.stdout is not None
        assert await asyncio.wait_for(other.stdout.readline(), 30) == b"begun\n"
        reader = await following(log, 20)
        assert await log.state("s", "m") is LogState.RUNNING
        await fill(log, STOP)
        read = await asyncio.wait_for(reader, 10)
        assert await asyncio.wait_for(other.wait(), 10) == 0
    finally:
        if other.returncode is None:
            other.kill()
            await other.wait()
    assert [offset for offset, _ in read] == list(range(23))
    assert "".join(one.content for _, one in read) == "".join(f"{number} " for number in range(20))
    assert [one.response_type for _, one in read[-2:]] == [ResponseType.STOP, ResponseType.COMPLETE]


async def test_without_a_server_every_call_says_so(own_redis: Any, logs: MakeLog) -> None:
    log = logs(own_redis.url, patience=0.0)
    with pytest.raises(Unavailable) as told:
        await fill(log, QUERY)
    assert "Redis" in told.value.message
    assert "REDIS_ADDR" in told.value.hint
    for call in (log.ping(), log.read("s", "m"), log.exists("s", "m"), log.state("s", "m"), log.take_over("s", "m")):
        with pytest.raises(Unavailable):
            await call
    with pytest.raises(Unavailable):
        await anext(log.follow("s", "m"))


@pytest.mark.parametrize("password", [None, "wrong"])
async def test_a_wrong_password_is_named_as_the_cause(own_redis: Any, logs: MakeLog, password: str | None) -> None:
    own_redis.password = "right"
    own_redis.start()
    await logs(own_redis.url, password="right").ping()
    with pytest.raises(Unavailable) as told:
        await logs(own_redis.url, password=password).ping()
    assert "REDIS_PASSWORD" in told.value.hint


async def test_a_server_that_goes_away_lets_readers_and_writers_know(own_redis: Any, logs: MakeLog) -> None:
    own_redis.start()
    log = logs(own_redis.url)
    await fill(log, QUERY, PIECES[0])
    reader = await following(log, 1)
    own_redis.stop()
    with pytest.raises(Unavailable):
        await fill(log, PIECES[1])
    with pytest.raises(Unavailable):
        await asyncio.wait_for(reader, 10)


async def test_a_server_that_came_back_empty_is_no_fresh_start(own_redis: Any, logs: MakeLog) -> None:
    """A log that went on from its middle would give readers half an answer as a whole one."""
    own_redis.start()
    log = logs(own_redis.url, patience=5.0)
    await fill(log, QUERY, PIECES[0])
    reader = await following(log, 1)
    own_redis.stop()
    own_redis.start()
    with pytest.raises(Unavailable, match="lost"):
        await asyncio.wait_for(reader, 10)
    with pytest.raises(NotFound):
        await fill(log, PIECES[1])
    assert await log.state("s", "m") is LogState.ABSENT


async def test_a_server_that_came_back_with_its_lists_is_followed_on(own_redis: Any, logs: MakeLog) -> None:
    own_redis.durable = True
    own_redis.start()
    log = logs(own_redis.url, patience=10.0)
    await fill(log, QUERY, PIECES[0])
    reader = await following(log, 1)
    stopping = asyncio.create_task(log.stop_requested("s", "m"))
    own_redis.stop()
    own_redis.start()
    await fill(log, PIECES[1], STOP, COMPLETE)
    assert await asyncio.wait_for(reader, 10) == list(enumerate([QUERY, *PIECES[:2], STOP, COMPLETE]))
    await asyncio.wait_for(stopping, 10)


async def lapsed(url: str, prefix: str) -> None:
    """Take the lease away, as its time would have done after a death."""
    async with Redis.from_url(url) as redis:
        assert await redis.delete(f"{prefix}:s:m:writer") == 1


async def test_a_log_whose_writer_died_ends_its_readers_and_is_taken_over_once(
    redis_server: Any, logs: MakeLog
) -> None:
    writer = logs(redis_server.url, owner="dead", prefix="dead", lease=3_600.0)
    await fill(writer, QUERY, PIECES[0])
    log, other = (logs(redis_server.url, owner=name, prefix="dead", lease=0.05) for name in ("a", "b"))
    reader = await following(log, 1)
    assert await log.state("s", "m") is LogState.RUNNING
    assert not await log.take_over("s", "m")
    await lapsed(redis_server.url, "dead")
    assert len(await asyncio.wait_for(reader, 5)) == 2
    slow = logs(redis_server.url, owner="c", prefix="dead", lease=60.0)
    assert await slow.state("s", "m") is LogState.ABANDONED
    assert await asyncio.gather(slow.take_over("s", "m"), other.take_over("s", "m")) == [True, False]
    assert await slow.state("s", "m") is LogState.RUNNING
    await fill(slow, COMPLETE)
    assert await slow.state("s", "m") is LogState.COMPLETE


async def test_a_quiet_writer_keeps_its_lease(redis_server: Any, logs: MakeLog) -> None:
    """A model may think for minutes: silence alone must not look like death."""
    log = logs(redis_server.url, lease=1.2)
    await fill(log, QUERY)
    reader = await following(log)
    async with Redis.from_url(redis_server.url) as redis, redis.pubsub() as events, asyncio.timeout(10):
        await redis.config_set("notify-keyspace-events", "K$")
        await events.subscribe(f"__keyspace@0__:{log._prefix}:s:m:writer")
        renewed = 0
        while renewed < 5:
            message = await events.get_message(timeout=5)
            renewed += message is not None and message["type"] == "message"
    assert await log.state("s", "m") is LogState.RUNNING
    assert not reader.done()
    await fill(log, COMPLETE)
    assert len(await asyncio.wait_for(reader, 5)) == 2


async def test_a_lease_ends_with_its_log(redis_server: Any, logs: MakeLog) -> None:
    log = logs(redis_server.url)
    await fill(log, QUERY, COMPLETE)
    assert log._leases._renewing is None
    async with Redis.from_url(redis_server.url) as redis:
        assert not await redis.exists(f"{log._prefix}:s:m:writer")


async def test_a_server_that_says_nothing_is_given_up(redis_server: Any) -> None:
    """A connection that only seems to be there, such as behind a fallen firewall, is found by a ping."""
    async with Redis.from_url(redis_server.url) as redis:
        wakes = Wakes(redis, quiet=0.3)
        async with wakes.listening(b"quiet") as ear:
            while not await ear.wait(0.1):
                if wakes._reader is None or wakes._reader.done():
                    break
                if await _pinged(redis):
                    break
            assert wakes._reader is not None, "a ping that is answered keeps the subscription"
            await redis.client_pause(3_000)
            with pytest.raises(Lost):
                await ear.wait(5)
            await redis.execute_command("CLIENT", "UNPAUSE")
        await wakes.close()


async def _pinged(redis: Redis) -> bool:
    return bool((await redis.info("commandstats")).get("cmdstat_ping"))
