"""One embedding model, or none, for every base: an installation without a registry of models."""

from __future__ import annotations

from opora.domain.knowledge import KnowledgeBase
from opora.ports import Embedder


class SingleEmbedder:
    """An `Embedders` that does not look at the base."""

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder

    @property
    def default(self) -> Embedder | None:
        return self._embedder

    async def of(self, base: KnowledgeBase) -> Embedder | None:
        return self._embedder
