"""Vectors that come into an engine, checked and brought to length 1."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from opora.domain.errors import DimensionMismatch, InvalidInput
from opora.domain.search import IndexRow
from opora.ports import Vectors

_BYTES = np.dtype(np.float32).itemsize


def unit_query(vector: Vectors) -> Vectors:
    """A query vector of length 1; raises `InvalidInput` when it can't be one."""
    if vector.ndim != 1:
        raise InvalidInput.of("vector", "A query vector has one dimension.")
    return _unit(vector, "The query vector")


def unit_bytes(row: IndexRow) -> bytes | None:
    """A row's vector of length 1 as float32 bytes, or None when the row has none.

    Raises `InvalidInput` for an empty one, NaN, infinity and zero, `DimensionMismatch` when its length is not the
    one that the row states.
    """
    if row.vector is None:
        return None
    if len(row.vector) != row.dimension * _BYTES:
        raise DimensionMismatch(
            f"The vector of chunk {row.chunk_id} has {len(row.vector) / _BYTES:g} numbers, not {row.dimension}.",
            hint="Check the size that the embedding model is registered with.",
            details={"expected": row.dimension, "actual": len(row.vector) // _BYTES, "chunk_id": row.chunk_id},
        )
    return _unit(np.frombuffer(row.vector, np.float32), f"The vector of chunk {row.chunk_id}").tobytes()


def _unit(vector: npt.NDArray[np.float32], what: str) -> npt.NDArray[np.float32]:
    exact = vector.astype(np.float64)
    norm = float(np.sqrt((exact * exact).sum()))
    if vector.size == 0:
        raise InvalidInput.of("vector", f"{what} is empty.")
    if not np.isfinite(norm):
        raise InvalidInput.of("vector", f"{what} holds a value that is not a number.")
    if norm == 0.0:
        raise InvalidInput.of("vector", f"{what} is zero and points nowhere.")
    return (exact / norm).astype(np.float32)
