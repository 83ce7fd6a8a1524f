"""Results, chunks and a reader that counts what it is asked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import pytest

from opora.domain.knowledge import Chunk, Place
from opora.domain.search import ScoreKind, SearchResult


@pytest.fixture
def result_of() -> Callable[..., SearchResult]:
    def make(chunk_id: str, content: str = "", score: float = 0.5, **values: Any) -> SearchResult:
        given = {
            "base_id": "kb",
            "tenant_id": "t",
            "document_id": "doc",
            "kind": ScoreKind.RRF,
            "title": "Title",
        } | values
        return SearchResult(chunk_id=chunk_id, content=content or f"text of {chunk_id}", score=score, **given)

    return make


@pytest.fixture
def chunk_of() -> Callable[..., Chunk]:
    def make(chunk_id: str, content: str = "", **values: Any) -> Chunk:
        given = {"base_id": "kb", "tenant_id": "t", "document_id": "doc", "chunk_index": 0} | values
        return Chunk(chunk_id=chunk_id, content=content or f"text of {chunk_id}", **given)

    return make


@pytest.fixture
def place_of() -> Callable[..., Place]:
    def make(start: int, text: str, **values: Any) -> Place:
        return Place(start=start, end=start + len(text), **values)

    return make


class Reader:
    """Chunks by id, with the batches that were asked for."""

    def __init__(self) -> None:
        self.chunks: dict[str, Chunk] = {}
        self.batches: list[set[str]] = []

    def add(self, *chunks: Chunk) -> None:
        self.chunks.update({chunk.chunk_id: chunk for chunk in chunks})

    async def __call__(self, chunk_ids: Collection[str]) -> Mapping[str, Chunk]:
        self.batches.append(set(chunk_ids))
        return {chunk_id: self.chunks[chunk_id] for chunk_id in chunk_ids if chunk_id in self.chunks}


@pytest.fixture
def read() -> Reader:
    return Reader()
