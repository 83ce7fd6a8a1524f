"""Remembers vectors on disk by model and text, so that a second evaluation costs seconds instead of minutes.

A file a model: records of a 16-byte digest and the numbers, appended. A record cut short by a crash is dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np

from opora.domain.errors import InvalidInput
from opora.ports import Embedder, EmbedderCard, Vectors

DIGEST_BYTES = 16
BATCH = 256
"""Texts between two writes to the disk: little is lost when a run is stopped."""
QUERY, PASSAGE = "query", "passage"


class CachedEmbedder:
    """An `Embedder` around another one of equal card, which is asked only for texts that it was never asked for."""

    def __init__(self, inner: Embedder, folder: Path) -> None:
        """Reads what the folder holds for the model. Raises `InvalidInput` when it can't be used."""
        self._inner = inner
        card = inner.card
        self._record = np.dtype([("key", f"V{DIGEST_BYTES}"), ("vector", "<f4", (card.dimension,))])
        name = blake2b(card.identity.encode(), digest_size=8).hexdigest()
        self._path = folder / f"vectors-{name}-{card.dimension}.bin"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._known = self._read()
        except OSError as error:
            raise InvalidInput.of("work", f"{folder} can't be used: {error.strerror}.") from error

    @property
    def card(self) -> EmbedderCard:
        return self._inner.card

    async def embed_query(self, text: str) -> Vectors:
        row: Vectors = (await self.embed_queries([text]))[0]
        return row

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Shape (texts, dimension)."""
        return await self._embed(QUERY, texts)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return await self._embed(PASSAGE, texts)

    async def close(self) -> None:
        await self._inner.close()

    async def _embed(self, role: str, texts: Sequence[str]) -> Vectors:
        keys = [_key(role, text) for text in texts]
        new = list({key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}.items())
        for start in range(0, len(new), BATCH):
            batch = new[start : start + BATCH]
            if role == PASSAGE:
                rows = await self._inner.embed_passages([text for _, text in batch])
            else:
                rows = np.stack([await self._inner.embed_query(text) for _, text in batch])
            await asyncio.to_thread(self._append, [key for key, _ in batch], rows)
        if not texts:
            return np.zeros((0, self.card.dimension), np.float32)
        return np.stack([self._known[key] for key in keys])

    def _read(self) -> dict[bytes, Vectors]:
        if not self._path.exists():
            return {}
        whole = self._path.stat().st_size // self._record.itemsize
        with self._path.open("r+b") as file:
            file.truncate(whole * self._record.itemsize)
        records = np.fromfile(self._path, self._record)
        return {bytes(key): vector for key, vector in zip(records["key"], records["vector"], strict=True)}

    def _append(self, keys: Sequence[bytes], rows: Vectors) -> None:
        records = np.empty(len(keys), self._record)
        records["key"] = np.frombuffer(b"".join(keys), f"V{DIGEST_BYTES}")
        records["vector"] = rows
        with self._path.open("ab") as file:
            file.write(records.tobytes())
        self._known.update(zip(keys, rows, strict=True))


def _key(role: str, text: str) -> bytes:
    data = f"{role}\0{text}".encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=DIGEST_BYTES).digest()
