"""Ids of chunks: from what a chunk says and the number of equal chunks before it, never from its position."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b

from opora.domain.knowledge import ChunkType

_ID_BYTES = 16


def _digest(document_id: str, chunk_type: ChunkType, context: str, content: str) -> blake2b:
    digest = blake2b(digest_size=_ID_BYTES)
    for field in (document_id, chunk_type.value, context, content):
        data = field.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest


def chunk_id(document_id: str, chunk_type: ChunkType, context: str, content: str, occurrence: int = 0) -> str:
    """The id of a chunk before which the document has ``occurrence`` equal ones."""
    digest = _digest(document_id, chunk_type, context, content)
    digest.update(occurrence.to_bytes(8, "big"))
    return digest.hexdigest()


class ChunkIds:
    """Gives the chunks of one document their ids, in the order of the document."""

    def __init__(self, document_id: str) -> None:
        self._document_id = document_id
        self._seen: Counter[bytes] = Counter()

    def of(self, chunk_type: ChunkType, context: str, content: str) -> str:
        digest = _digest(self._document_id, chunk_type, context, content)
        base = digest.digest()
        digest.update(self._seen[base].to_bytes(8, "big"))
        self._seen[base] += 1
        return digest.hexdigest()
