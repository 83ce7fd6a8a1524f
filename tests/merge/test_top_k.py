"""The final cut."""

from __future__ import annotations

import random

from opora.domain.knowledge import ChunkType
from opora.merge.top_k import filter_top_k


def test_score_then_document_type_index_and_id(result_of) -> None:
    items = [
        result_of("z", score=0.9, document_id="z"),
        result_of("a", score=0.5, document_id="a", chunk_index=2),
        result_of("b", score=0.5, document_id="a", chunk_index=1, chunk_type=ChunkType.TEXT),
        result_of("c", score=0.5, document_id="a", chunk_index=9, chunk_type=ChunkType.FAQ),
        result_of("d", score=0.5, document_id="a", chunk_index=2),
        result_of("e", score=0.5, document_id="b", chunk_index=0),
    ]
    for seed in range(10):
        stage = filter_top_k(random.Random(seed).sample(items, len(items)), 5)
        assert [r.chunk_id for r in stage.results] == ["z", "c", "b", "a", "d"]
        assert [(d.chunk_id, d.reason) for d in stage.drops] == [("e", "over_top_k")]


def test_what_was_kept_takes_no_place(result_of) -> None:
    kept = result_of("k", score=2.0, metadata={"kept_by": "image_vector"})
    stage = filter_top_k([kept, result_of("a", score=0.5), result_of("b", score=0.4)], 1)
    assert [r.chunk_id for r in stage.results] == ["a", "k"]
    assert [d.chunk_id for d in stage.drops] == ["b"]
