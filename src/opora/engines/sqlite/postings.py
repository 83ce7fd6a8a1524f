"""Where terms stand: read from a base's full-text table, and remembered while the base stays as it is."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

import apsw
import numpy as np
import numpy.typing as npt

from opora.engines.sqlite.rows import Keys, numbers

_OVERHEAD = 300
"""Bytes that remembering a term takes beside its arrays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The state of a base's keyword side: its number, its count of removals and its highest row number."""

    base: int
    erased: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Postings:
    """Positions, among the ascending rows of the base, of those that hold a term, and how often each holds it."""

    at: npt.NDArray[np.int32]
    counts: npt.NDArray[np.float32]

    @property
    def nbytes(self) -> int:
        return self.at.nbytes + self.counts.nbytes + _OVERHEAD


class PostingCache:
    """The postings asked for last, no more than ``budget`` bytes of them."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._held: OrderedDict[tuple[int, str], tuple[Snapshot, Postings]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, connection: apsw.Connection, snapshot: Snapshot, term: str, keys: Keys) -> Postings:
        """The postings of a term in a base whose rows in this snapshot are ``keys``."""
        name = (snapshot.base, term)
        with self._lock:
            held = self._held.get(name)
            if held is not None and held[0] == snapshot:
                self._held.move_to_end(name)
                return held[1]
        postings = _read(connection, snapshot.base, term, keys)
        with self._lock:
            old = self._held.pop(name, None)
            self._held[name] = (snapshot, postings)
            self._bytes += postings.nbytes - (old[1].nbytes if old else 0)
            while self._bytes > self._budget and self._held:
                self._bytes -= self._held.popitem(last=False)[1][1].nbytes
        return postings


def _read(connection: apsw.Connection, base: int, term: str, keys: Keys) -> Postings:
    """The term is bound, never spliced: nothing a user types is read as query language."""
    # One row of the view is one occurrence, ascending by document; all in one string is four times faster than rows.
    where = numbers(connection, f"SELECT group_concat(doc) FROM terms_{base} WHERE term = :term", {"term": term})
    rows, counts = np.unique(where, return_counts=True)
    return Postings(at=np.searchsorted(keys, rows).astype(np.int32), counts=counts.astype(np.float32))
