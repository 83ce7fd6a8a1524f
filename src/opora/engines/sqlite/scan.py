"""Scores of many vectors against one: an exact scan, shared between processors when it is long."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

SHARED_FROM = 32_768
"""Rows from which handing a part to another thread is worth it."""
_MOST_WORKERS = 4
"""Memory, not arithmetic, is what a scan waits for."""


class Scanner:
    """Dot products of rows with a query, each row by itself.

    A score then depends neither on a row's place nor on its neighbours. A matrix product would do neither, and its
    BLAS threads wait for each other actively, which costs a time slice (8 ms) when a processor is busy.
    """

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers or min(_MOST_WORKERS, os.cpu_count() or 1)
        self._pool = ThreadPoolExecutor(max(self._workers - 1, 1), thread_name_prefix="opora-scan")

    def scores(self, data: Floats, query: Floats) -> Floats:
        if self._workers == 1 or len(data) < SHARED_FROM:
            return _dots(data, query)
        scores = np.empty(len(data), np.float32)
        edges = np.linspace(0, len(data), self._workers + 1).astype(int).tolist()
        parts = [slice(start, end) for start, end in pairwise(edges)]
        others = [self._pool.submit(np.vecdot, data[part], query, out=scores[part]) for part in parts[1:]]
        np.vecdot(data[parts[0]], query, out=scores[parts[0]])
        for other in others:
            other.result()
        return scores

    def close(self) -> None:
        self._pool.shutdown()


def _dots(data: Floats, query: Floats) -> Floats:
    scores: Floats = np.vecdot(data, query)
    return scores
