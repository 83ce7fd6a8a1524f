"""Small values that several ports share: time, ids, vectors, pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T")

Vectors = npt.NDArray[np.float32]
"""A float32 matrix of shape (texts, dimension), rows of length 1."""

Clock = Callable[[], datetime]
"""The time now, with its zone."""

NewId = Callable[[], str]
"""A fresh id, unique and sortable by time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Paging: ``page`` from 1."""

    page: int = 1
    page_size: int = 20

    @property
    def offset(self) -> int:
        return (self.page - 1) * self.page_size


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed(Generic[T]):
    items: tuple[T, ...]
    total: int
