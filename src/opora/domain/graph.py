"""What a graph of entities knows of a chunk: the things that it speaks of, and how they are related.

A chunk's metadata holds what a model read out of it; the graph is made from that, and can be made anew without a model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

ENTITIES = "entities"
RELATIONS = "relations"
"""Where a chunk's metadata holds them."""
MAX_SEEDS = 200
"""Entities of a graph at which a search begins."""
MAX_ROWS = 2_000
"""Rows of a graph that one search looks at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """``source`` and ``target`` are names of entities of the same chunk; ``label`` says what one is to the other."""

    source: str
    label: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What one chunk says: names as they stand in its text."""

    entities: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkFacts:
    chunk_id: str
    facts: Facts


def facts_of(metadata: Mapping[str, Any]) -> Facts:
    return Facts(
        entities=tuple(metadata.get(ENTITIES, ())),
        relations=tuple(Relation(**relation) for relation in metadata.get(RELATIONS, ())),
    )


def as_metadata(facts: Facts) -> dict[str, Any]:
    """Also for a chunk that speaks of nothing: it is not asked about again."""
    return {ENTITIES: list(facts.entities), RELATIONS: [asdict(relation) for relation in facts.relations]}
