"""The `Vectoriser` of a process that has the embedding models itself."""

from __future__ import annotations

from opora.domain.errors import ModelNotConfigured
from opora.domain.knowledge import KnowledgeBase
from opora.ports import Embedders, QuestionVector
from opora.retrieve.question_vector import question_vector


class LocalVectoriser:
    def __init__(self, embedders: Embedders) -> None:
        self._embedders = embedders

    async def vectorise(self, question: str, base: KnowledgeBase | None = None) -> QuestionVector:
        embedder = self._embedders.default if base is None else await self._embedders.of(base)
        if embedder is None:
            raise ModelNotConfigured(
                "There is no embedding model to make a vector of the question.",
                hint="Set an embedding model (OPORA_EMBEDDING), or search by words (fulltext).",
            )
        vector = await question_vector(embedder, question)
        return QuestionVector(identity=embedder.card.identity, vector=vector)
