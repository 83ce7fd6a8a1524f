"""One search in a graph: from the names of a question to entities, to what they are related to, to chunks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from opora.domain.graph import MAX_ROWS, MAX_SEEDS
from opora.domain.scope import Scope
from opora.text.terms import name_key

Mention = tuple[str, str]
"""The key of an entity, and the id of a chunk that speaks of it."""


class GraphRows(Protocol):
    """What a graph store is asked for. Everything is within the scope, and in a total order."""

    async def seeds(self, scope: Scope, key: str, *, limit: int) -> list[str]:
        """Keys of entities of that very key; where there is none, of those that have its words side by side."""
        ...

    async def mentions(self, scope: Scope, keys: Collection[str], *, limit: int) -> list[Mention]: ...

    async def related(self, scope: Scope, keys: Collection[str], *, limit: int) -> list[str]:
        """Keys of entities that one relation joins with one of ``keys``, in either direction."""
        ...


async def related_chunks(rows: GraphRows, scope: Scope, names: Sequence[str]) -> list[str]:
    """Chunk ids, nearest first. Begins at no more than `MAX_SEEDS` entities and looks at `MAX_ROWS` rows at most."""
    asked: dict[str, list[str]] = {}
    seeds: dict[str, None] = {}
    for key in dict.fromkeys(filter(None, map(name_key, names))):
        asked[key] = await rows.seeds(scope, key, limit=MAX_SEEDS)
        seeds |= dict.fromkeys(asked[key])
    start = list(seeds)[:MAX_SEEDS]
    if not start:
        return []
    named = await rows.mentions(scope, start, limit=MAX_ROWS)
    left = MAX_ROWS - len(named)
    around = await rows.related(scope, start, limit=left) if left > 0 else []
    near = [key for key in around if key not in seeds]
    left -= len(around)
    beside = await rows.mentions(scope, near, limit=left) if near and left > 0 else []
    return nearest_first(asked, named, beside)


def nearest_first(asked: Mapping[str, Iterable[str]], named: Iterable[Mention], beside: Iterable[Mention]) -> list[str]:
    """Chunks that speak of more of the asked entities come first; then those that speak of more of their neighbours."""
    asked_by: dict[str, set[str]] = {}
    for name, keys in asked.items():
        for key in keys:
            asked_by.setdefault(key, set()).add(name)
    names: dict[str, set[str]] = {}
    for key, chunk_id in named:
        names.setdefault(chunk_id, set()).update(asked_by.get(key, ()))
    neighbours: dict[str, set[str]] = {}
    for key, chunk_id in beside:
        neighbours.setdefault(chunk_id, set()).add(key)

    def distance(chunk_id: str) -> tuple[int, int, str]:
        return -len(names.get(chunk_id, ())), -len(neighbours.get(chunk_id, ())), chunk_id

    return sorted(names.keys() | neighbours.keys(), key=distance)
