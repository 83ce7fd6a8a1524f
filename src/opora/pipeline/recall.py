"""Picks what is remembered for a question, by words and without a model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from opora.domain.memory import MAX_MEMORY_CHARS, MAX_RECALLED_ITEMS, MemoryItem
from opora.text.terms import index_terms, query_terms


def recalled(question: str, items: Sequence[MemoryItem]) -> tuple[MemoryItem, ...]:
    """At most five items of at most 600 characters together.

    First those that are meant for every question, newest first; then those that share words with this one, the
    rarer the words the sooner. An item that no longer fits is passed over.
    """
    chosen: list[MemoryItem] = []
    room = MAX_MEMORY_CHARS
    for item in (*_constant(items), *_alike(question, items)):
        if len(item.content) <= room:
            chosen.append(item)
            room -= len(item.content)
        if len(chosen) == MAX_RECALLED_ITEMS:
            break
    return tuple(chosen)


def _constant(items: Sequence[MemoryItem]) -> list[MemoryItem]:
    return sorted((item for item in items if item.always), key=_newest)


def _alike(question: str, items: Sequence[MemoryItem]) -> list[MemoryItem]:
    asked = sorted(set(query_terms(question)))
    said = {item.item_id: frozenset(index_terms(item.content)) for item in items if not item.always}
    holding = Counter(term for terms in said.values() for term in terms)
    weights = {term: math.log(1 + len(items) / holding[term]) for term in asked if holding[term]}
    scores = {item_id: sum(weights[term] for term in weights if term in terms) for item_id, terms in said.items()}
    found = [item for item in items if scores.get(item.item_id, 0.0) > 0.0]
    return sorted(found, key=lambda item: (-scores[item.item_id], *_newest(item)))


def _newest(item: MemoryItem) -> tuple[float, str]:
    return (-item.updated_at.timestamp(), item.item_id)
