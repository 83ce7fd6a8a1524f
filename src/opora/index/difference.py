"""Compares what an engine holds of a base with what the database says it should hold."""

from __future__ import annotations

from dataclasses import dataclass

from opora.domain.scope import Scope
from opora.ports import Database, SearchEngine


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """``missing`` chunks are in the database only, ``stray`` ones in the engine only.

    ``vectorless`` chunks are marked as embedded and have no vector in the engine. Everything is empty in a base that
    is at rest and sound; while work is under way, strays are normal.
    """

    missing: frozenset[str]
    stray: frozenset[str]
    vectorless: frozenset[str]

    @property
    def is_sound(self) -> bool:
        return not (self.missing or self.stray or self.vectorless)


async def difference(
    database: Database, engine: SearchEngine, scope: Scope, base_id: str, model: str | None = None
) -> Difference:
    """``scope`` holds all of the base, disabled chunks included; ``model`` is the identity of its embedder."""
    only = scope.narrowed(base_ids=(base_id,))
    async with database.read() as stored:
        held = await stored.chunks.ids(only)
        marked = await stored.chunks.ids(only, model=model) if model is not None else set()
    rows = await engine.chunk_ids(scope, base_id)
    with_vector = await engine.chunk_ids(scope, base_id, with_vector=True) if model is not None else set()
    return Difference(
        missing=frozenset(held - rows), stray=frozenset(rows - held), vectorless=frozenset(marked - with_vector)
    )
