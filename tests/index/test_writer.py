"""Chunks become engine rows: words and vectors where the base wants them, parents never."""

from __future__ import annotations

import numpy as np
import pytest

from opora.domain.errors import DimensionMismatch
from opora.domain.knowledge import Chunk, ChunkType, IndexingStrategy
from opora.domain.scope import Scope
from opora.domain.search import IndexRow
from opora.index.writer import WRITE_STEP, index_row, write_keywords, write_vectors

BOTH = IndexingStrategy()


class Written:
    """Keeps what is written, call by call."""

    def __init__(self) -> None:
        self.calls: list[list[IndexRow]] = []

    async def write(self, scope: Scope, rows: list[IndexRow]) -> None:
        self.calls.append(list(rows))


def chunk(number: int, **values: object) -> Chunk:
    given = {"base_id": "kb-1", "tenant_id": "default", "document_id": "d", "chunk_index": number, "content": "текст"}
    return Chunk(chunk_id=f"c-{number}", **(given | values))  # type: ignore[arg-type]


def test_a_row_is_searched_by_heading_and_content() -> None:
    row = index_row(chunk(1, context="Глава", tag_ids=("t",), enabled=False), BOTH)
    assert (row.text, row.tag_ids, row.enabled) == ("Глава\nтекст", ("t",), False)
    assert (row.vector, row.dimension) == (None, 0)


def test_without_keyword_search_words_stay_out() -> None:
    assert index_row(chunk(1), IndexingStrategy(keyword=False)).text == ""


def test_a_vector_is_written_as_float32() -> None:
    row = index_row(chunk(1), BOTH, np.array([1.0, 0.0, 0.0]))
    assert (row.vector, row.dimension) == (np.array([1, 0, 0], np.float32).tobytes(), 3)


async def test_parents_are_not_written_and_calls_stay_short(scope: Scope) -> None:
    engine = Written()
    chunks = [chunk(number) for number in range(WRITE_STEP + 1)]
    await write_keywords(engine, scope, [*chunks, chunk(9999, chunk_type=ChunkType.PARENT_TEXT)], BOTH)  # type: ignore[arg-type]
    assert [len(call) for call in engine.calls] == [WRITE_STEP, 1]
    assert [row.chunk_id for call in engine.calls for row in call] == [item.chunk_id for item in chunks]


@pytest.mark.parametrize("shape", [(1, 3), (2, 4), (3, 3)])
async def test_vectors_of_another_shape_are_refused(scope: Scope, shape: tuple[int, int]) -> None:
    engine = Written()
    with pytest.raises(DimensionMismatch):
        await write_vectors(engine, scope, [chunk(1), chunk(2)], np.zeros(shape, np.float32), 3, BOTH)  # type: ignore[arg-type]
    assert engine.calls == []


async def test_each_chunk_gets_its_own_vector(scope: Scope) -> None:
    engine = Written()
    vectors = np.eye(3, dtype=np.float32)[:2]
    await write_vectors(engine, scope, [chunk(1), chunk(2)], vectors, 3, BOTH)  # type: ignore[arg-type]
    assert [(row.chunk_id, row.vector) for row in engine.calls[0]] == [
        ("c-1", vectors[0].tobytes()),
        ("c-2", vectors[1].tobytes()),
    ]
