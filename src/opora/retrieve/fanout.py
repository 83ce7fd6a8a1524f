"""Asks every store at once: a few groups at a time, each within its time, all of them or none."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, TypeVar

from opora.domain.errors import EngineError, OporaError

MAX_GROUPS_AT_ONCE = 4
GROUP_TIMEOUT = 30.0
"""Seconds that one group of stores may take (`MULTI_STORE_RETRIEVE_TIMEOUT_SEC`)."""

T = TypeVar("T")
Call = Callable[[], Coroutine[Any, Any, T]]


async def all_or_nothing(calls: Sequence[Call[T]], *, at_once: int | None = None) -> list[T]:
    """Results in the order of the calls, whatever the order of arrival. The first failure cancels the rest.

    A single call is awaited where it stands, without a task of its own.
    """
    if len(calls) == 1:
        return [await calls[0]()]
    limit = asyncio.Semaphore(at_once) if at_once is not None and at_once < len(calls) else None

    async def run(call: Call[T]) -> T:
        if limit is None:
            return await call()
        async with limit:
            return await call()

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(run(call)) for call in calls]
    except BaseExceptionGroup as failed:
        raise _first(failed) from failed
    return [task.result() for task in tasks]


async def within(seconds: float, call: Awaitable[T], *, what: str) -> T:
    """The result of an engine's call; `EngineError` when it takes too long or fails in a way of its own."""
    try:
        async with asyncio.timeout(seconds):
            return await call
    except TimeoutError as error:
        raise EngineError(
            f"{what} did not answer within {seconds:g} s.",
            hint="Check that the search engine runs and is not overloaded.",
        ) from error
    except OporaError:
        raise
    except Exception as error:
        raise EngineError(f"{what} failed: {error}", hint="Check that the search engine runs.") from error


def _first(failed: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first failure that is not itself a group."""
    error = failed.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
