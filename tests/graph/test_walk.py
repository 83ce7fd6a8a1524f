"""Chunks come nearest first, whatever order their rows come in; a search begins and ends within its limits."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opora.domain.graph import MAX_ROWS, MAX_SEEDS
from opora.domain.scope import Scope
from opora.graph.walk import nearest_first, related_chunks


def test_the_limits_of_a_search() -> None:
    assert (MAX_SEEDS, MAX_ROWS) == (200, 2_000)


def test_chunks_of_more_asked_entities_come_before_those_of_one_and_neighbours_last() -> None:
    asked = {"ромашк": ["ромашк", "оо ромашк"], "петр": ["петр"]}
    named = [("ромашк", "c1"), ("оо ромашк", "c1"), ("петр", "c2"), ("ромашк", "c2")]
    beside = [("договор", "c0"), ("договор", "c3"), ("счет", "c3"), ("счет", "c1")]
    assert nearest_first(asked, named, beside) == ["c2", "c1", "c3", "c0"]


MENTIONS = st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from(["c1", "c2", "c3", "c4"])), max_size=20)


@given(MENTIONS, MENTIONS, st.randoms())
def test_the_order_does_not_depend_on_the_order_of_rows(
    named: list[tuple[str, str]], beside: list[tuple[str, str]], random: object
) -> None:
    asked = {"x": ["a", "b"], "y": ["b", "c"]}
    mixed, others = list(named), list(beside)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    random.shuffle(others)  # type: ignore[attr-defined]
    found = nearest_first(asked, named, beside)
    assert found == nearest_first(asked, mixed, others + others)
    assert sorted(found) == sorted({chunk_id for _, chunk_id in (*named, *beside)})


class Endless:
    """A graph that gives as much as it is asked for, and notes how much that was."""

    def __init__(self) -> None:
        self.rows = 0
        self.started_at: set[str] = set()

    async def seeds(self, scope: Scope, key: str, *, limit: int) -> list[str]:
        return [f"{key} {n}" for n in range(limit)]

    async def mentions(self, scope: Scope, keys: Collection[str], *, limit: int) -> list[tuple[str, str]]:
        self.started_at |= set() if self.rows else set(keys)
        self.rows += (given := min(limit, 1_500))
        return [(sorted(keys)[n % len(keys)], f"c{self.rows}-{n}") for n in range(given)]

    async def related(self, scope: Scope, keys: Collection[str], *, limit: int) -> list[str]:
        self.rows += (given := min(limit, 300))
        return [f"near {n}" for n in range(given)]


@pytest.mark.parametrize("names", [["Ромашка"], ["Ромашка", "Пётр"]])
async def test_a_search_begins_at_200_entities_and_looks_at_2000_rows(scope: Scope, names: list[str]) -> None:
    graph = Endless()
    found = await related_chunks(graph, scope, names)
    assert (len(graph.started_at), graph.rows) == (200, 2_000)
    assert len(found) == 1_700


@pytest.mark.parametrize("names", [[], [""], ["!?"]])
async def test_nothing_is_asked_of_a_graph_without_a_name(scope: Scope, names: list[str]) -> None:
    graph = Endless()
    assert await related_chunks(graph, scope, names) == []
    assert graph.rows == 0
