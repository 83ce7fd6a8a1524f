"""The vector of a question, of the size that its model is known for."""

from __future__ import annotations

from opora.domain.errors import DimensionMismatch
from opora.ports import Embedder, Vectors


async def question_vector(embedder: Embedder, query: str) -> Vectors:
    """Raises `DimensionMismatch` with ``details['of'] == 'query'`` for one of another size than the model's."""
    try:
        vector = await embedder.embed_query(query)
    except DimensionMismatch as error:
        error.details["of"] = "query"
        raise
    identity, expected = embedder.card.identity, embedder.card.dimension
    if vector.shape != (expected,):
        raise DimensionMismatch(
            f"The model {identity} gave a vector of {vector.shape} numbers, not {expected}.",
            hint="Check the embedding model and build the index again.",
            details={"model": identity, "expected": expected, "actual": vector.size, "of": "query"},
        )
    return vector
