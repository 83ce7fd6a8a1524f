"""Keeps an embedding model of the registry to the size of vectors that was recorded when it first gave one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from opora.domain.errors import DimensionMismatch
from opora.ports import Embedder, EmbedderCard, Vectors


class RecordedEmbedder:
    """An `Embedder` around that of an entry. ``known`` is the recorded size, 0 where there is none yet; ``record``
    keeps a first one and gives the one that holds."""

    def __init__(self, raw: Embedder, *, known: int, record: Callable[[int], Awaitable[int]]) -> None:
        self._raw = raw
        self._known = known
        self._record = record

    @property
    def card(self) -> EmbedderCard:
        """``dimension`` is 0 until the model has given its first vector."""
        return replace(self._raw.card, dimension=self._known)

    async def embed_query(self, text: str) -> Vectors:
        row = await self._raw.embed_query(text)
        await self._check(int(row.shape[-1]))
        return row

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        rows = await self._raw.embed_passages(texts)
        if len(rows):
            await self._check(int(rows.shape[-1]))
        return rows

    async def close(self) -> None:
        await self._raw.close()

    async def _check(self, size: int) -> None:
        if not self._known:
            self._known = await self._record(size)
        if size != self._known:
            identity = self._raw.card.identity
            raise DimensionMismatch(
                f"The model {identity} gave vectors of {self._known} numbers when it was first used, and now {size}.",
                hint="Serve the model that was there before, or keep the new one as a model of its own.",
                details={"model": identity, "expected": self._known, "actual": size},
            )
