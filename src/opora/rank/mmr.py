"""Picks results that are relevant and unlike each other: maximal marginal relevance over Jaccard similarity.

value = lambda x relevance - (1 - lambda) x (greatest similarity to a pick). Tokens are made once; an inverted index in
contiguous arrays gives the candidates that share a token with the newest pick, so the rest are never compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain

import numpy as np
import numpy.typing as npt

MMR_LAMBDA = 0.7

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def select_mmr(
    relevance: Sequence[float],
    tokens_of: Callable[[int], AbstractSet[str]],
    *,
    k: int,
    weight: float = MMR_LAMBDA,
) -> list[tuple[int, float]]:
    """Indexes of the picks with the value each was picked by, in the order of picking.

    Equal values are settled by input order. With k = 1 the most relevant is taken and no tokens are made.
    """
    if k <= 0 or not relevance:
        return []
    scores = np.asarray(relevance, dtype=np.float64)
    if k == 1:
        first = int(np.argmax(scores))
        return [(first, float(weight * scores[first]))]
    index = TokenIndex([tokens_of(i) for i in range(len(relevance))])
    redundancy = np.zeros(len(relevance))
    taken = np.zeros(len(relevance), dtype=bool)
    picks: list[tuple[int, float]] = []
    while len(picks) < min(k, len(relevance)):
        values = weight * scores - (1.0 - weight) * redundancy
        values[taken] = -np.inf
        best = int(np.argmax(values))
        picks.append((best, float(values[best])))
        taken[best] = True
        np.maximum(redundancy, index.jaccard_with(best), out=redundancy)
    return picks


class TokenIndex:
    """Token sets of candidates as an inverted index in flat arrays; memory in proportion to the sum of their sizes."""

    def __init__(self, token_sets: Sequence[AbstractSet[str]]) -> None:
        ids: defaultdict[str, int] = defaultdict()
        ids.default_factory = ids.__len__
        self._sizes: Ints = np.fromiter((len(tokens) for tokens in token_sets), np.int64, len(token_sets))
        total = int(self._sizes.sum())
        self._tokens: npt.NDArray[np.int32] = np.fromiter(
            map(ids.__getitem__, chain.from_iterable(token_sets)), np.int32, total
        )
        self._first: Ints = np.concatenate(([0], np.cumsum(self._sizes)))
        owners = np.repeat(np.arange(len(token_sets)), self._sizes)
        self._candidates: Ints = owners[np.argsort(self._tokens)]
        counts = np.bincount(self._tokens, minlength=len(ids))
        self._starts: Ints = np.concatenate(([0], np.cumsum(counts)))

    def shared_with(self, candidate: int) -> Ints:
        """How many tokens each candidate shares with this one."""
        tokens = self._tokens[self._first[candidate] : self._first[candidate + 1]]
        starts = self._starts[tokens]
        lengths = self._starts[tokens + 1] - starts
        offsets = np.cumsum(lengths) - lengths
        places = np.repeat(starts - offsets, lengths) + np.arange(int(lengths.sum()))
        return np.bincount(self._candidates[places], minlength=len(self._sizes))

    def jaccard_with(self, candidate: int) -> Floats:
        """Shared tokens over all tokens of each pair; 0 for two empty sets."""
        shared = self.shared_with(candidate)
        union = self._sizes[candidate] + self._sizes - shared
        similarity: Floats = np.zeros(len(union))
        np.divide(shared, union, out=similarity, where=union > 0)
        return similarity
