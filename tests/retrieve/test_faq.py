"""Deeper rounds."""

from __future__ import annotations

import pytest

from opora.retrieve import faq


@pytest.mark.parametrize(
    ("first", "rounds"),
    [(50, (100, 200, 400, 500)), (10, (20, 40, 80, 160, 320)), (500, ()), (400, (500,)), (499, (500,))],
)
def test_depth_doubles_for_at_most_five_rounds_within_the_ceiling(first: int, rounds: tuple[int, ...]) -> None:
    assert faq.depths(first) == rounds


@pytest.mark.parametrize(
    ("found", "sizes", "top_k", "deeper"),
    [(3, [50], 50, True), (3, [49], 50, False), (10, [50], 50, False), (3, [10, 50], 50, True), (3, [500], 500, False)],
)
def test_deepening_needs_a_full_list_and_too_few_chunks(found: int, sizes: list[int], top_k: int, deeper: bool) -> None:
    assert faq.needs_deepening(found=found, wanted=10, top_k=top_k, list_sizes=sizes) is deeper


async def test_deepening_stops_as_soon_as_it_is_enough() -> None:
    asked: list[int] = []

    async def search(depth: int) -> int:
        asked.append(depth)
        return depth

    enough = await faq.deepen(50, top_k=50, search=search, is_enough=lambda result, _: result >= 200)
    assert (enough, asked) == (200, [100, 200])
    asked.clear()
    assert await faq.deepen(50, top_k=50, search=search, is_enough=lambda *_: False) == 500
    assert asked == [100, 200, 400, 500]
    asked.clear()
    assert await faq.deepen(7, top_k=50, search=search, is_enough=lambda *_: True) == 7
    assert asked == []
