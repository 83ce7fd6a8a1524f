"""Reading results: as tuples, or one column of numbers as an array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import apsw
import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.int64]
"""Row numbers."""


def fetch(connection: apsw.Connection, sql: str, bindings: Sequence[Any]) -> list[tuple[Any, ...]]:
    return connection.execute(sql, bindings).fetchall()


def numbers(connection: apsw.Connection, sql: str, bindings: Mapping[str, Any]) -> Keys:
    """The one column of a query that ends in ``group_concat``, as an array: twice as fast as row by row."""
    joined = connection.execute(sql, bindings).get
    return np.fromstring(joined, dtype=np.int64, sep=",") if joined else np.empty(0, np.int64)
