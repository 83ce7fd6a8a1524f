"""A process may die between any two steps of any port, again and again: the end is the same as without."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

FIRST = "\n\n".join(f"Абзац {number}: " + f"слово{number} " * 60 for number in range(8))
SECOND = FIRST.replace("слово3 ", "иное ")
THIRD = "совсем другое"


class Crash(BaseException):
    """The process is gone: nothing after this runs."""


class Fate:
    """Counts the steps of one process and ends it at the given one; from then on every step fails."""

    def __init__(self, at: int | None) -> None:
        self._at = at
        self.steps = 0
        self.died = asyncio.Event()

    def step(self) -> None:
        self.steps += 1
        if self._at is not None and self.steps >= self._at:
            self.died.set()
            raise Crash


class Mortal:
    """A port that dies before a call, or after it and before its answer arrives."""

    def __init__(self, port: Any, fate: Fate) -> None:
        self._port = port
        self._fate = fate

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._port, name)
        if not asyncio.iscoroutinefunction(real):
            return real

        async def call(*args: Any, **kw: Any) -> Any:
            self._fate.step()
            outcome = await real(*args, **kw)
            self._fate.step()
            return outcome

        return call


class MortalDatabase:
    """Dies before a transaction, before its commit (which rolls it back), or after it."""

    def __init__(self, database: Any, fate: Fate) -> None:
        self._database = database
        self._fate = fate

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[Any]:
        self._fate.step()
        async with self._database.begin() as stored:
            yield stored
            self._fate.step()
        self._fate.step()

    def read(self) -> Any:
        return self._database.read()


def doom(world: Any, at: int | None) -> Fate:
    fate = Fate(at)
    world.wrap = lambda name, port: MortalDatabase(port, fate) if name == "database" else Mortal(port, fate)
    return fate


async def story(world: Any) -> None:
    """What a client does, which sends again whatever was not answered: four uploads, then changes of each."""
    await send(world, "/kept", "останется " + FIRST)
    await send(world, "/changed", FIRST)
    await send(world, "/gone", "уйдёт")
    await send(world, "/bad", "DAMAGED")
    await world.runner.idle()
    await send(world, "/changed", SECOND)
    await remove(world, "/gone")
    await world.runner.idle()
    await send(world, "/changed", THIRD)
    await send(world, "/bad", "теперь читается")
    await world.runner.idle()


async def send(world: Any, source: str, text: str) -> None:
    if (source, text) in world.answered:
        return
    scope = await world.scope()
    given = {"file_name": f"{source[1:]}.txt", "data": text.encode(), "source": source, "replace": True}
    await world.documents.add_file(scope, scope.bases[0].base_id, **given)
    world.answered.add((source, text))


async def remove(world: Any, source: str) -> None:
    if source in world.answered:
        return
    scope = await world.scope()
    async with world.database.read() as stored:
        found = await stored.documents.by_source(scope, scope.bases[0].base_id, source)
    for document in found:
        await world.documents.delete(scope, document.document_id)
    world.answered.add(source)


async def live(world: Any, at: int | None) -> bool:
    """One process, to its end or its death; True when the story is over."""

    async def begin() -> None:
        await world.runner.start()
        await story(world)

    world.fate = doom(world, at)
    await world.start(work=False)
    telling, dying = asyncio.create_task(begin()), asyncio.create_task(world.fate.died.wait())
    async with asyncio.timeout(20):
        await asyncio.wait({telling, dying}, return_when=asyncio.FIRST_COMPLETED)
    is_over = telling.done() and not world.fate.died.is_set()
    if is_over:
        await telling
    for task in (telling, dying):
        task.cancel()
    await asyncio.gather(telling, dying, return_exceptions=True)
    await world.stop()
    return is_over


async def outcome(world: Any) -> Any:
    """All that can be seen at the end, without ids and times."""
    await world.start()
    await world.idle()
    scope = await world.scope()
    base_id = scope.bases[0].base_id
    await world.check_sound(base_id)
    seen = []
    async with world.database.read() as stored:
        documents = await stored.documents.by_source(scope, base_id, "/")
    for document in documents:
        status = (document.parse_status, document.error_reason, document.version, document.indexed_version)
        text = await world.documents.text(scope, document.document_id)
        seen.append((document.source, document.title, status, document.chunk_count, document.embedded_count, text))
    await world.stop()
    return seen, sorted((row.text, row.vector) for row in world.engine.rows.values())


async def run_through(world: Any, crashes: list[int], *, vector: bool = True) -> Any:
    """Without vectors nothing writes the words a second time: a row that is missed stays missed."""
    await world.start(work=False)
    await world.base(vector=vector)
    await world.stop()
    world.answered = set()
    for at in [*crashes, None]:
        if await live(world, at):
            break
    world.wrap = lambda _name, port: port
    return await outcome(world)


async def test_the_story_without_a_crash(world: Any, tmp_path: Path) -> None:
    await world.stop()
    fresh = type(world)(tmp_path / "fresh")
    fresh.folder.mkdir()
    seen, rows = await run_through(fresh, [])
    assert [(item[0], item[2]) for item in seen] == [
        ("/bad", ("completed", "", 2, 2)),
        ("/changed", ("completed", "", 3, 3)),
        ("/kept", ("completed", "", 1, 1)),
    ]
    assert all(vector is not None for _, vector in rows)
    assert fresh.fate.steps > MOST_STEPS


MOST_STEPS = 120
"""Crashes are put among so many first steps of a process; the story has some more."""


@pytest.fixture
def expected() -> dict[bool, Any]:
    return {}


@given(crashes=st.lists(st.integers(1, MOST_STEPS), min_size=1, max_size=4), vector=st.booleans())
@settings(max_examples=14, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
async def test_any_crashes_end_in_the_same_state(
    new_world: Callable[[Path], Any], expected: dict[bool, Any], crashes: list[int], vector: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("clean", "crashed"):
            (Path(folder) / name).mkdir()
        if vector not in expected:
            expected[vector] = await run_through(new_world(Path(folder) / "clean"), [], vector=vector)
        assert await run_through(new_world(Path(folder) / "crashed"), crashes, vector=vector) == expected[vector]
