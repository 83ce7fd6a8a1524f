"""Estimates how long embedding takes, from how long it took lately."""

from __future__ import annotations

NEWEST_SHARE = 0.2
"""How much the newest batch counts: fast enough to follow another load, slow enough not to jump."""


class Pace:
    """A moving average of seconds a chunk."""

    def __init__(self) -> None:
        self._seconds_each: float | None = None

    def record(self, chunks: int, seconds: float) -> None:
        if chunks <= 0:
            return
        each = seconds / chunks
        old = self._seconds_each
        self._seconds_each = each if old is None else old + NEWEST_SHARE * (each - old)

    def seconds_for(self, chunks: int) -> float | None:
        return None if self._seconds_each is None else self._seconds_each * chunks
