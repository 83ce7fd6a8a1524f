"""Ids of chunks that are cut from a document: from what a chunk says, never from where it stands."""

from __future__ import annotations

from hashlib import blake2b

from opora.domain.knowledge import ChunkType

_ID_BYTES = 16


def cut_chunk_id(document_id: str, chunk_type: ChunkType, context: str, content: str, occurrence: int) -> str:
    """``occurrence`` is the number of equal chunks before it in its document."""
    digest = blake2b(digest_size=_ID_BYTES)
    for field in (document_id, chunk_type.value, context, content):
        data = field.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    digest.update(occurrence.to_bytes(8, "big"))
    return digest.hexdigest()
