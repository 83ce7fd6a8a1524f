"""One answer, two servers with one Redis: it is followed and stopped from either, and outlives the death of neither."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from opora.api.eventstream import frames_of
from opora.bootstrap import App, Models
from opora.chat.service import Chat
from opora.domain.conversation import Finish, Message
from opora.domain.errors import NotFound, Unavailable
from opora.domain.scope import LOCAL_PRINCIPAL, Principal, Scope
from opora.domain.stream import LogState, StreamEvent
from opora.domain.stream import ResponseType as R
from opora.models.scripted import ScriptedChat
from opora.settings import Settings

from .replica import replica

SCOPE = Scope(principal=LOCAL_PRINCIPAL)
PIECES = ["Раз ", "два ", "три ", "четыре"]


class Hold:
    """Lets a scripted model say some pieces and holds it until it is let."""

    def __init__(self, free: int) -> None:
        self.free = free
        self.held = asyncio.Event()
        self.let = asyncio.Event()

    async def __call__(self) -> None:
        self.free -= 1
        if self.free < 0:
            self.held.set()
            await self.let.wait()


class Asker:
    """A server that answers, and the question that it was asked."""

    def __init__(self, app: App, hold: Hold, session_id: str, message_id: str) -> None:
        self.app = app
        self.hold = hold
        self.ids = (session_id, message_id)

    async def stored(self) -> Message:
        return await self.app.sessions.message(SCOPE, self.ids[1])


def settings_at(data: Path, url: str, prefix: str) -> Settings:
    return Settings.model_validate(
        {
            "data": data,
            "embedding": "none",
            "retrieval": {"enable_rewrite": False},
            "STREAM_MANAGER_TYPE": "redis",
            "REDIS_URL": url,
            "REDIS_PREFIX": prefix,
        }
    )


@asynccontextmanager
async def asking(data: Path, url: str, prefix: str, *, free: int = 2) -> AsyncIterator[Asker]:
    """A server in the middle of an answer."""
    hold = Hold(free)
    model = ScriptedChat(PIECES, before_each=hold)
    app = await App.open(settings_at(data, url, prefix), models=Models(embedder=None, chat=model))
    try:
        session = await app.sessions.create(SCOPE, title="Разговор")
        asked = await app.chat.ask(SCOPE, session.session_id, "Посчитай")
        await asyncio.wait_for(hold.held.wait(), 10)
        yield Asker(app, hold, session.session_id, asked.assistant_message_id)
    finally:
        await app.close()


async def events(chat: Chat, ids: tuple[str, str], from_offset: int = 0) -> list[StreamEvent]:
    followed = chat.follow(SCOPE, *ids, from_offset)
    async with asyncio.timeout(10):
        return [event async for _, event in followed]


def kinds(found: list[StreamEvent]) -> list[R]:
    return [event.response_type for event in found]


def text(found: list[StreamEvent]) -> str:
    return "".join(event.content for event in found if event.response_type is R.ANSWER)


async def lapse(url: str, prefix: str, ids: tuple[str, str]) -> None:
    """What time does to the lease of a writer that died."""
    async with Redis.from_url(url) as redis:
        await redis.delete(f"{prefix}:{ids[0]}:{ids[1]}:writer")


async def test_followed_on_the_other_server_word_for_word(redis_server: Any, tmp_path: Path) -> None:
    async with (
        asking(tmp_path, redis_server.url, "follow") as asker,
        replica(tmp_path, redis_server.url, "follow") as other,
    ):
        here = asyncio.create_task(events(asker.app.chat, asker.ids))
        there = asyncio.create_task(events(other, asker.ids))
        asker.hold.let.set()
        assert await there == await here
        assert text(await there) == "".join(PIECES)
        assert await events(other, asker.ids, 3) == (await here)[3:]


async def test_stopped_from_the_other_server_what_was_written_stays(redis_server: Any, tmp_path: Path) -> None:
    async with (
        asking(tmp_path, redis_server.url, "stop") as asker,
        replica(tmp_path, redis_server.url, "stop") as other,
    ):
        async with asyncio.timeout(10):
            assert await other.stop(SCOPE, *asker.ids) is True
        found = await events(other, asker.ids)
        assert kinds(found).count(R.STOP) == 1
        assert kinds(found)[-1] is R.COMPLETE
        assert found[-1].data["finish"] == "stopped"
        stored = await asker.stored()
        assert (stored.content, stored.finish) == ("Раз два ", Finish.STOPPED)
        assert text(found) == stored.content
        assert await other.stop(SCOPE, *asker.ids) is False
        assert await asker.app.chat.stop(SCOPE, *asker.ids) is False


async def test_a_stop_reaches_an_answer_whose_readers_have_all_left(redis_server: Any, tmp_path: Path) -> None:
    async with asking(tmp_path, redis_server.url, "left") as asker:
        reading = asker.app.chat.follow(SCOPE, *asker.ids)
        await anext(reading)
        await reading.aclose()  # type: ignore[attr-defined]
        async with replica(tmp_path, redis_server.url, "left") as other:
            assert await other.stop(SCOPE, *asker.ids)
        assert (await asker.stored()).finish is Finish.STOPPED


async def test_only_the_owner_can_stop_or_read_on_the_other_server(redis_server: Any, tmp_path: Path) -> None:
    async with asking(tmp_path, redis_server.url, "strange") as asker:
        async with replica(tmp_path, redis_server.url, "strange") as other:
            for stranger in (("default", "somebody"), ("other", "local")):
                scope = replace(SCOPE, principal=Principal(tenant_id=stranger[0], user_id=stranger[1]))
                with pytest.raises(NotFound):
                    await other.stop(scope, *asker.ids)
                with pytest.raises(NotFound):
                    await anext(aiter(other.follow(scope, *asker.ids)))
        asker.hold.let.set()
        found = await events(asker.app.chat, asker.ids)
        assert R.STOP not in kinds(found)
        assert found[-1].data["finish"] == "complete"


async def test_a_start_leaves_the_answers_of_living_servers_alone(redis_server: Any, tmp_path: Path) -> None:
    async with asking(tmp_path, redis_server.url, "alive") as asker:
        async with replica(tmp_path, redis_server.url, "alive") as other:
            await other.start()
            assert not (await asker.stored()).is_completed
        asker.hold.let.set()
        await events(asker.app.chat, asker.ids)
        assert (await asker.stored()).finish is Finish.COMPLETE


async def test_one_that_looked_alive_at_the_start_is_looked_at_again(
    redis_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that is up again within the lease of its own dead run must flag it all the same."""
    process, ids = await child(tmp_path, redis_server.url, "again")
    process.kill()
    await process.wait()
    async with replica(tmp_path, redis_server.url, "again") as other:
        other._logs._recheck = 0.01
        await other.start()
        assert other._logs._checking is not None
        await lapse(redis_server.url, "again", ids)
        await asyncio.wait_for(other._logs._checking, 10)
        stored = await other._message(SCOPE, *ids)
        assert (stored.is_completed, stored.finish) == (True, Finish.INTERRUPTED)


async def child(
    data: Path, url: str = "", prefix: str = "", free: int = 2
) -> tuple[asyncio.subprocess.Process, tuple[str, str]]:
    """A server in a process of its own, in the middle of an answer."""
    program = [sys.executable, str(Path(__file__).with_name("server_child.py")), str(data), url, prefix, str(free)]
    process = await asyncio.create_subprocess_exec(*program, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    line = await asyncio.wait_for(process.stdout.readline(), 60)
    session_id, message_id = json.loads(line)
    return process, (session_id, message_id)


@pytest.mark.slow
async def test_in_two_processes_begun_on_one_resumed_and_stopped_on_the_other(
    redis_server: Any, tmp_path: Path
) -> None:
    process, ids = await child(tmp_path, redis_server.url, "two")
    try:
        async with replica(tmp_path, redis_server.url, "two") as other:
            reading = other.follow(SCOPE, *ids, 1)
            offset, first = await asyncio.wait_for(anext(aiter(reading)), 10)
            assert (offset, first.content) == (1, "Раз ")
            assert await other.stop(SCOPE, *ids)
            found = [first] + [event async for _, event in reading]
            assert text(found) == "Раз два "
            assert kinds(found)[-2:] == [R.STOP, R.COMPLETE]
            assert (await other._message(SCOPE, *ids)).content == "Раз два "
        assert await asyncio.wait_for(process.wait(), 20) == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.mark.slow
async def test_killed_in_the_middle_readers_are_told_and_the_message_is_flagged(
    redis_server: Any, tmp_path: Path
) -> None:
    process, ids = await child(tmp_path, redis_server.url, "killed")
    async with replica(tmp_path, redis_server.url, "killed", lease=0.1) as other:
        reader = asyncio.create_task(events(other, ids))
        process.kill()
        await process.wait()
        await lapse(redis_server.url, "killed", ids)
        found = await asyncio.wait_for(reader, 10)
        assert text(found) == "Раз два "
        assert kinds(found)[-1] is R.COMPLETE
        assert found[-1].data["finish"] == "interrupted"
        stored = await other._message(SCOPE, *ids)
        assert (stored.is_completed, stored.finish) == (True, Finish.INTERRUPTED)
        assert await other.stop(SCOPE, *ids) is False
    again = await App.open(settings_at(tmp_path, redis_server.url, "killed"))
    try:
        assert await events(again.chat, ids) == found
    finally:
        await again.close()


@pytest.mark.slow
@pytest.mark.parametrize("free", [0, 1, 2])
async def test_killed_with_its_log_in_memory_the_answer_is_flagged_at_the_next_start(tmp_path: Path, free: int) -> None:
    """Whatever it had said: what was in memory is gone, and nobody waits for it."""
    process, ids = await child(tmp_path, free=free)
    process.kill()
    await process.wait()
    again = await App.open(Settings(data=tmp_path, embedding="none"))
    try:
        stored = await again.sessions.message(SCOPE, ids[1])
        assert (stored.is_completed, stored.finish) == (True, Finish.INTERRUPTED)
        told = await frames(again, ids)
        assert told[-1]["data"] == {"finish": "interrupted"}
        assert [one["response_type"] for one in await frames(again, ids, 2)] == ["complete"]
        assert await again.chat.stop(SCOPE, *ids) is False
    finally:
        await again.close()


async def test_two_readers_of_a_dead_answer_get_one_end(redis_server: Any, tmp_path: Path) -> None:
    process, ids = await child(tmp_path, redis_server.url, "dead")
    process.kill()
    await process.wait()
    await lapse(redis_server.url, "dead", ids)
    async with replica(tmp_path, redis_server.url, "dead") as one, replica(tmp_path, redis_server.url, "dead") as two:
        first, second = await asyncio.gather(events(one, ids), events(two, ids))
    assert first == second
    assert kinds(first).count(R.COMPLETE) == 1


async def frames(app: App, ids: tuple[str, str], from_offset: int = 0) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    async with asyncio.timeout(20):
        async for frame in frames_of(
            app, SCOPE, session_id=ids[0], message_id=ids[1], request_id="r", from_offset=from_offset
        ):
            *_, data = frame.decode().rstrip("\n").split("\n")
            made.append({"has_id": frame.startswith(b"id: ")} | json.loads(data.removeprefix("data: ")))
    return made


async def test_redis_going_away_in_the_middle_is_told_to_readers_and_to_the_message(
    own_redis: Any, tmp_path: Path
) -> None:
    own_redis.durable = True
    own_redis.start()
    async with asking(tmp_path, own_redis.url, "away") as asker:
        asker.app.log._patience = 0.2  # type: ignore[attr-defined]
        reader = asyncio.create_task(frames(asker.app, asker.ids))
        await reached(asker.app.log, asker.ids)
        running = asker.app.chat._answering.running[asker.ids[1]]
        own_redis.stop()
        asker.hold.let.set()
        seen = await reader
        assert [one["response_type"] for one in seen[-2:]] == ["error", "complete"]
        assert not any(one["has_id"] for one in seen[-2:]), "who comes back resumes behind what the log really held"
        assert "Redis" in seen[-2]["content"]
        assert running.task is not None
        await asyncio.wait_for(running.task, 10)
        stored = await asker.stored()
        assert (stored.finish, stored.content) == (Finish.ERROR, "Раз два три ")
        assert "Redis" in stored.error_message
        told = await frames(asker.app, asker.ids)
        assert "".join(one["content"] for one in told if one["response_type"] == "answer") == stored.content
        with pytest.raises(Unavailable):
            await asker.app.chat.ask(SCOPE, asker.ids[0], "Ещё?")
        assert (await asker.app.sessions.messages(SCOPE, asker.ids[0]))[-1].finish is Finish.ERROR
        own_redis.start()
        await lapse(own_redis.url, "away", asker.ids)
        assert await asker.app.log.state(*asker.ids) is LogState.ABANDONED
        last = seen[-3]
        resumed = await frames(asker.app, asker.ids, 3)
        words = "".join(one["content"] for one in resumed if one["response_type"] == "answer")
        assert last["response_type"] == "answer"
        assert "Раз два " + words == stored.content, "the log is completed from what is stored"
        assert [one["response_type"] for one in resumed][-2:] == ["error", "complete"]
        assert all(one["has_id"] for one in resumed)


async def reached(log: Any, ids: tuple[str, str]) -> None:
    """Returns when the log holds what the model said before it was held: the query and two pieces."""
    async for offset, _ in log.follow(*ids):
        if offset == 2:
            return


async def test_with_redis_gone_a_stop_says_so(own_redis: Any, tmp_path: Path) -> None:
    own_redis.start()
    async with asking(tmp_path, own_redis.url, "gone") as asker:
        async with replica(tmp_path, own_redis.url, "gone") as other:
            own_redis.stop()
            with pytest.raises(Unavailable):
                await other.stop(SCOPE, *asker.ids)
        assert await asker.app.chat.stop(SCOPE, *asker.ids), "its own server needs no Redis to stop it"
        assert (await asker.stored()).finish is Finish.STOPPED
