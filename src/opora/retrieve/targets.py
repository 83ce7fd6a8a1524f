"""Sorts the bases of a search into groups that one engine call can answer, and says which arms and limits apply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opora.domain.knowledge import BaseType, KnowledgeBase
from opora.domain.search import DEFAULT_MATCH_COUNT, MAX_POOL_SIZE, SearchMode

POOL_FACTOR = 5
MIN_POOL_SIZE = 50


def normalised_match_count(match_count: int) -> int:
    """How many results are wanted: at or below 0 means `DEFAULT_MATCH_COUNT`. Read once, at the way in."""
    return match_count if match_count > 0 else DEFAULT_MATCH_COUNT


def pool_size(match_count: int, bases: int) -> int:
    """How many candidates each arm is asked for: max(5 x count, 50) for each base, at most 500."""
    return min(max(match_count * POOL_FACTOR, MIN_POOL_SIZE) * max(bases, 1), MAX_POOL_SIZE)


def has_vectors(base: KnowledgeBase) -> bool:
    return base.indexing.vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Bases of one store and one owner, with the bases that each arm is asked about."""

    store_id: str
    tenant_id: str
    bases: tuple[KnowledgeBase, ...]
    vector_ids: tuple[str, ...]
    keyword_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    groups: tuple[Group, ...]
    without_vectors: tuple[KnowledgeBase, ...] = ()
    """Bases that hold vectors of another model (or of none) and are searched by words only."""

    @property
    def needs_vector(self) -> bool:
        return any(group.vector_ids for group in self.groups)


def plan(bases: Sequence[KnowledgeBase], mode: SearchMode, model: str | None) -> Plan:
    """Group bases by (vector store, owning tenant) and route each by its type.

    A FAQ base is searched by vectors only, a document base by vectors and words. ``model`` is the identity of the
    embedding model at hand: a base whose vectors are of another one, and any base when there is no model, is searched
    by words instead.
    """
    grouped: dict[tuple[str, str], list[KnowledgeBase]] = {}
    for base in sorted(bases, key=lambda b: b.base_id):
        grouped.setdefault((base.vector_store_id, base.tenant_id), []).append(base)
    lacking = tuple(base for base in bases if has_vectors(base) and not _fits(base, model))
    groups = []
    for (store_id, tenant_id), members in sorted(grouped.items()):
        vector_ids = [b.base_id for b in members if mode is not SearchMode.FULLTEXT and _has_arm(b, model)]
        keyword_ids = [b.base_id for b in members if mode is not SearchMode.SEMANTIC and _has_words(b, model, mode)]
        groups.append(
            Group(
                store_id=store_id,
                tenant_id=tenant_id,
                bases=tuple(members),
                vector_ids=tuple(vector_ids),
                keyword_ids=tuple(keyword_ids),
            )
        )
    return Plan(groups=tuple(groups), without_vectors=lacking)


def _fits(base: KnowledgeBase, model: str | None) -> bool:
    return model is not None and base.embedding_model_id in ("", model)


def _has_arm(base: KnowledgeBase, model: str | None) -> bool:
    return has_vectors(base) and _fits(base, model)


def _has_words(base: KnowledgeBase, model: str | None, mode: SearchMode) -> bool:
    if not base.indexing.keyword:
        return False
    if base.base_type is BaseType.FAQ:
        return mode is SearchMode.FULLTEXT or not _has_arm(base, model)
    return True
