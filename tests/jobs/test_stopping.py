"""Workers end when they are told to, also when work is announced in the same moment."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest


@pytest.mark.parametrize("turns", range(6))
async def test_a_worker_that_was_just_woken_still_ends(world: Any, turns: int) -> None:
    while not all(waker._waiters for waker in world.runner._wakers):  # noqa: ASYNC110 - nothing tells that they wait
        await asyncio.sleep(0)
    world.runner.wake()
    for _ in range(turns):
        await asyncio.sleep(0)
    async with asyncio.timeout(10):
        await world.runner.close()
