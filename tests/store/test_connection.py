"""A call that is under way ends before its caller is cancelled."""

from __future__ import annotations

import asyncio

import pytest

from opora.store.connection import unbroken


async def test_the_result_comes_back() -> None:
    assert await unbroken(asyncio.sleep(0, "done")) == "done"


async def test_an_error_comes_back() -> None:
    async def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await unbroken(fail())


@pytest.mark.parametrize("fails", [False, True])
async def test_a_cancelled_caller_waits_for_the_call(fails: bool) -> None:
    begun, go_on, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def call() -> None:
        begun.set()
        await go_on.wait()
        ended.set()
        if fails:
            raise ZeroDivisionError

    task = asyncio.create_task(unbroken(call()))
    await begun.wait()
    for _ in range(2):
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()
