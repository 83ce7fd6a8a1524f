"""Orders rows by the words that they share with a question: Qdrant filters by words, and gives no score for them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any


def by_words(found: Iterable[Mapping[str, Any]], terms: Collection[str]) -> list[Mapping[str, Any]]:
    """Payloads, best first: those with more of the terms, rare ones among the found counting more; then by chunk id."""
    wanted = set(terms)
    shared = [(payload, wanted.intersection(payload.get("terms", ()))) for payload in found]
    rarity = Counter(term for _, own in shared for term in own)
    weight = {term: math.log(1 + len(shared) / count) for term, count in rarity.items()}

    def place(one: tuple[Mapping[str, Any], set[str]]) -> tuple[float, str]:
        payload, own = one
        return -math.fsum(weight[term] for term in own), str(payload["chunk_id"])

    return [payload for payload, _ in sorted(shared, key=place)]
