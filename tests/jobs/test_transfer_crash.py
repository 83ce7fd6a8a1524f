"""A process may die at any step of a move or a copy: nothing is lost, nothing is there twice, nothing is left over."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opora.domain.errors import Conflict
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.engines.sqlite.engine import SqliteEngine
from opora.index.difference import difference
from opora.knowledge.transfers import Transfers
from opora.store.ids import new_id

from .test_crash import doom

TEXT = "\n\n".join(f"Абзац {number}: " + f"слово{number} " * 60 for number in range(6))
MOST_STEPS = 200


class Road:
    """Two bases and a document that goes from one to the other and is copied back."""

    def __init__(self, world: Any) -> None:
        self.world = world
        world.engine = SqliteEngine(world.folder / "index.db")
        self.here = self.there = self.document = ""

    async def prepare(self) -> None:
        await self.world.start()
        self.here = (await self.world.base()).base_id
        self.there = (await self.world.base()).base_id
        document = await self.world.add(self.here, TEXT)
        self.document = document.document_id
        await self.world.settle(self.here, document)
        await self.world.idle()
        await self.world.stop()

    async def live(self, at: int | None) -> bool:
        """One process, to its end or its death; True when all is done."""

        async def begin() -> None:
            await self.world.runner.start()
            await self.go()

        fate = doom(self.world, at)
        await self.world.start(work=False)
        going, dying = asyncio.create_task(begin()), asyncio.create_task(fate.died.wait())
        async with asyncio.timeout(20):
            await asyncio.wait({going, dying}, return_when=asyncio.FIRST_COMPLETED)
        is_over = not fate.died.is_set()
        if is_over:
            await going
        for task in (going, dying):
            task.cancel()
        await asyncio.gather(going, dying, return_exceptions=True)
        await self.world.stop()
        return is_over

    async def go(self) -> None:
        """What a client does, who asks again for what was not answered."""
        world = self.world
        made = {"clock": world.ground.clock, "new_id": new_id}
        transfers = Transfers(world.ground.database, world.ground.blobs, world.runner, **made)
        await world.runner.idle()
        scope = await world.access.documents(LOCAL_PRINCIPAL, [self.document])
        await transfers.move(scope, await world.scope(self.there), self.there, [self.document])
        await world.runner.idle()
        scope = await world.access.documents(LOCAL_PRINCIPAL, [self.document])
        with contextlib.suppress(Conflict):  # it was copied before the last death
            await transfers.copy(scope, await world.scope(self.here), self.here, [self.document])
        await world.runner.idle()

    async def check(self) -> None:
        world = self.world
        world.wrap = lambda _name, port: port
        await world.start()
        await world.idle()
        scope = await world.scope(self.here, self.there)
        async with world.database.read() as stored:
            documents = await stored.documents.get_many(scope, await stored.documents.ids(scope))
            assert await stored.work.pending() == 0
        assert sorted(one.base_id for one in documents.values()) == sorted((self.here, self.there))
        assert documents[self.document].base_id == self.there
        for one in documents.values():
            assert (one.parse_status, one.embedded_count) == ("completed", one.chunk_count)
            assert one.chunk_count > 3
        for base_id in (self.here, self.there):
            mine = await world.scope(base_id)
            found = await difference(world.database, world.engine, mine, base_id, world.embedder.card.identity)
            assert found.is_sound, found
        assert sorted(document_id for _, document_id in await world.blobs.stored()) == sorted(documents)
        await world.stop()
        await world.engine.close()


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1, 25, 3))
async def test_a_death_at_any_step(new_world: Callable[[Path], Any], tmp_path: Path, first: int) -> None:
    """Every third step, shared out among the cases."""
    is_over, at = False, first
    while not is_over:
        assert at < MOST_STEPS
        folder = tmp_path / str(at)
        folder.mkdir()
        road = Road(new_world(folder))
        await road.prepare()
        is_over = await road.live(at)
        if not is_over:
            while not await road.live(None):
                pass
        await road.check()
        at += 24
    assert at > 48, "there are many steps to die at"
