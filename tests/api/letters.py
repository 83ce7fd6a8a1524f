"""An embedding model that needs nothing: texts with the same letters side by side are alike."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from opora.ports import EmbedderCard, Vectors

DIMENSION = 256


class LetterEmbedder:
    """Vectors of three-letter runs: the same words give the same vector, other words another one."""

    def __init__(self) -> None:
        self.embedded: list[str] = []
        self.card = EmbedderCard(identity="letters", dimension=DIMENSION, max_tokens=1000, vector_threshold=0.2)

    async def embed_query(self, text: str) -> Vectors:
        return self._vector(text)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.embedded += texts
        return np.stack([self._vector(text) for text in texts])

    async def close(self) -> None: ...

    def _vector(self, text: str) -> Vectors:
        row = np.zeros(DIMENSION, np.float32)
        for word in text.lower().split():
            padded = f" {word.strip('?.,')} "
            for place in range(len(padded) - 2):
                row[int.from_bytes(hashlib.sha256(padded[place : place + 3].encode()).digest()[:2]) % DIMENSION] += 1
        unit: Vectors = (row / (np.linalg.norm(row) or 1.0)).astype(np.float32)
        return unit
