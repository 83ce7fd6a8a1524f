"""An embedder without a model: unit vectors drawn from a hash of the text, for tests and benchmarks only.

Equal texts have equal vectors, also as query and passage; unequal ones are as good as unrelated.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from opora.ports import EmbedderCard, Vectors


class NullEmbedder:
    """An `Embedder` whose vectors mean nothing."""

    def __init__(self, dimension: int = 384) -> None:
        self._card = EmbedderCard(
            identity=f"null-{dimension}",
            dimension=dimension,
            max_tokens=1_000_000,
            vector_threshold=0.0,
            description="Hashed vectors without meaning, for tests and benchmarks.",
        )

    @property
    def card(self) -> EmbedderCard:
        return self._card

    async def embed_query(self, text: str) -> Vectors:
        row: Vectors = self._hash([text])[0]
        return row

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._hash(texts)

    async def close(self) -> None: ...

    def _hash(self, texts: Sequence[str]) -> Vectors:
        size = self._card.dimension
        digests = b"".join(hashlib.shake_128(text.encode("utf-8", "surrogatepass")).digest(size) for text in texts)
        rows = np.frombuffer(digests, np.uint8).reshape(len(texts), size).astype(np.float32) - 127.5
        unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit
