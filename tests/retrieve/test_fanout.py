"""All or nothing, at once, in time, in the order of the calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from opora.domain.errors import EngineError
from opora.retrieve import fanout


def call(
    result: Any, *, after: asyncio.Event | None = None, sets: asyncio.Event | None = None
) -> Callable[[], Coroutine[Any, Any, Any]]:
    async def run() -> Any:
        if after is not None:
            await after.wait()
        if sets is not None:
            sets.set()
        if isinstance(result, Exception):
            raise result
        return result

    return run


async def test_results_stand_in_the_order_of_the_calls_not_of_arrival() -> None:
    second = asyncio.Event()
    assert await fanout.all_or_nothing([call(1, after=second), call(2, sets=second)]) == [1, 2]
    assert await fanout.all_or_nothing([call(1)]) == [1]


async def test_one_failure_cancels_the_rest_and_comes_out_itself() -> None:
    never = asyncio.Event()
    with pytest.raises(EngineError, match="down"):
        await fanout.all_or_nothing([call(1, after=never), call(EngineError("down"))])


async def test_no_more_groups_at_once_than_allowed() -> None:
    running = most = 0

    async def run() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1

    await fanout.all_or_nothing([run] * 20, at_once=fanout.MAX_GROUPS_AT_ONCE)
    assert most == fanout.MAX_GROUPS_AT_ONCE == 4


async def test_time_and_strange_errors_become_engine_errors() -> None:
    never = asyncio.Event()
    with pytest.raises(EngineError, match="did not answer"):
        await fanout.within(0.0, never.wait(), what="Vector search")
    with pytest.raises(EngineError, match="Keyword search failed: boom") as caught:
        await fanout.within(1.0, call(ValueError("boom"))(), what="Keyword search")
    assert isinstance(caught.value.__cause__, ValueError)
    assert fanout.GROUP_TIMEOUT == 30.0
