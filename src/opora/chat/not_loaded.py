"""A reranking model that could not be loaded, as one that fails: ranking goes on without it, and says why."""

from __future__ import annotations

from collections.abc import Sequence

from opora.domain.errors import ModelError, OporaError
from opora.ports import RerankerCard


class NotLoaded:
    def __init__(self, model_id: str, error: OporaError) -> None:
        self._card = RerankerCard(identity=model_id)
        self._error = error

    @property
    def card(self) -> RerankerCard:
        return self._card

    async def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        raise ModelError(
            f"The reranking model can't be loaded: {self._error.message}", hint=self._error.hint
        ) from self._error

    async def close(self) -> None: ...
