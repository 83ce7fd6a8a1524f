"""What is special about searching FAQ bases: going deeper when rows repeat."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from opora.domain.search import MAX_POOL_SIZE

MAX_ROUNDS = 5
DEPTH_FACTOR = 2

T = TypeVar("T")


def needs_deepening(*, found: int, wanted: int, top_k: int, list_sizes: Sequence[int]) -> bool:
    """Fewer chunks than wanted although a vector list came back full: several of its rows were of one chunk."""
    return found < wanted and top_k < MAX_POOL_SIZE and any(size >= top_k for size in list_sizes)


def depths(first: int) -> tuple[int, ...]:
    """The depths of the further rounds: doubled each time, within the ceiling, at most `MAX_ROUNDS` of them."""
    rounds: list[int] = []
    depth = first
    while len(rounds) < MAX_ROUNDS and depth < MAX_POOL_SIZE:
        depth = min(depth * DEPTH_FACTOR, MAX_POOL_SIZE)
        rounds.append(depth)
    return tuple(rounds)


async def deepen(
    first: T, *, top_k: int, search: Callable[[int], Awaitable[T]], is_enough: Callable[[T, int], bool]
) -> T:
    """Search again, deeper each round, until ``is_enough(result, depth)`` or no deeper round is left.

    Each round replaces the one before and is fused like the first, so scores keep one scale.
    """
    if is_enough(first, top_k):
        return first
    result = first
    for depth in depths(top_k):
        result = await search(depth)
        if is_enough(result, depth):
            break
    return result
