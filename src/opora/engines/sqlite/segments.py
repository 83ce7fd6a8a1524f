"""Columns of hot bases held in memory: vectors, and the lengths of texts, brought up to date before each use."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from opora.engines.sqlite.rows import Keys

Block = tuple[Keys, npt.NDArray[Any]]

BLOCK_ROWS = 4096
_SPARE = 1.25
"""Room left at the end of a segment that grows, so that ingest does not copy it for every batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One column of one base: ascending row numbers and, in the same order, the values.

    Neither array is ever changed: growth fills the spare room of ``store`` behind what older segments show.
    """

    keys: Keys
    data: npt.NDArray[Any]
    erased: int
    """The base's count of removals that this segment reflects."""
    store: npt.NDArray[Any]

    @property
    def nbytes(self) -> int:
        return self.keys.nbytes + self.store.nbytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """Where a segment comes from: the row numbers now, and the blocks of values above a row number."""

    base: int
    dimension: int
    """The length of the vectors; 0 for the lengths of texts."""
    erased: int
    last: int
    """The highest row number in this snapshot."""
    read_keys: Callable[[], Keys]
    read_blocks: Callable[[int], Iterator[Block]]
    """Blocks of rows above a row number, ascending."""
    empty: npt.NDArray[Any]
    """An array of no rows, in the type and width of the column."""

    @property
    def row_bytes(self) -> int:
        return 8 + int(self.empty.itemsize * np.prod(self.empty.shape[1:], dtype=np.int64))


class Segments:
    """The segments of the bases searched last, no more than ``budget`` bytes of them."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._held: OrderedDict[tuple[int, int], Segment] = OrderedDict()
        self._locks: dict[tuple[int, int], threading.Lock] = {}
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        with self._lock:
            return sum(segment.nbytes for segment in self._held.values())

    def get(self, column: Column) -> Segment | None:
        """The column as this snapshot shows it, or None when it is too large to be held."""
        name = (column.base, column.dimension)
        with self._lock:
            lock = self._locks.setdefault(name, threading.Lock())
        with lock:
            with self._lock:
                held = self._held.get(name)
                if held is not None:
                    self._held.move_to_end(name)
            if held is not None and held.erased == column.erased and _last(held.keys) >= column.last:
                return _cut(held, column.last)
            if held is not None and held.erased > column.erased:
                return self._fresh(column)  # a newer snapshot than this reader's: leave what is held alone
            made = self._fresh(column) if held is None else self._renewed(held, column)
            with self._lock:
                if made is None:
                    self._held.pop(name, None)
                else:
                    self._held[name] = made
                    self._shrink(name)
            return made

    def forget(self, base: int) -> None:
        """Let go of a base that is gone."""
        with self._lock:
            for name in [name for name in self._held if name[0] == base]:
                del self._held[name]
            for name in [name for name in self._locks if name[0] == base]:
                del self._locks[name]

    def _fresh(self, column: Column) -> Segment | None:
        keys = column.read_keys()
        if keys.size * column.row_bytes > self._budget:
            return None
        store = np.empty((keys.size, *column.empty.shape[1:]), column.empty.dtype)
        filled = 0
        for _, data in column.read_blocks(0):
            store[filled : filled + len(data)] = data
            filled += len(data)
        return Segment(keys=keys, data=store, erased=column.erased, store=store)

    def _renewed(self, held: Segment, column: Column) -> Segment | None:
        keys, data, store = held.keys, held.data, held.store
        if held.erased != column.erased:
            left = np.isin(keys, column.read_keys(), assume_unique=True)
            if not left.all():
                keys, data = keys[left], data[left]
                store = data
        for new_keys, new_data in column.read_blocks(_last(keys)):
            used = len(keys)
            total = used + len(new_keys)
            if total * column.row_bytes > self._budget:
                return None
            if total > len(store):
                store = np.empty((int(total * _SPARE), *store.shape[1:]), store.dtype)
                store[:used] = data
            store[used:total] = new_data
            keys, data = np.concatenate([keys, new_keys]), store[:total]
        return Segment(keys=keys, data=data, erased=column.erased, store=store)

    def _shrink(self, keep: tuple[int, int]) -> None:
        total = sum(segment.nbytes for segment in self._held.values())
        for name in list(self._held):
            if total <= self._budget:
                return
            if name != keep:
                total -= self._held.pop(name).nbytes


def _last(keys: Keys) -> int:
    return int(keys[-1]) if keys.size else 0


def _cut(segment: Segment, last: int) -> Segment:
    """The segment without rows that were added after the reader's snapshot."""
    if _last(segment.keys) <= last:
        return segment
    end = int(np.searchsorted(segment.keys, last, side="right"))
    return Segment(keys=segment.keys[:end], data=segment.data[:end], erased=segment.erased, store=segment.store)
