"""Pictures that a text model turned down."""

from __future__ import annotations

import json

import pytest

from opora.domain.knowledge import ChunkType
from opora.rank import images


def picture(result_of, chunk_id: str, vector: float, ocr: str = "", **values):
    given = {
        "chunk_type": ChunkType.IMAGE_VECTOR,
        "scores": {"vector": vector},
        "image_info": json.dumps([{"url": f"/{chunk_id}.png", "ocr_text": ocr}]),
    }
    return result_of(chunk_id, **(given | values))


def test_the_nearest_two_are_kept_and_marked(result_of) -> None:
    rejected = [picture(result_of, "a", 0.3), picture(result_of, "b", 0.5), picture(result_of, "c", 0.4)]
    kept = images.kept_pictures(rejected, vector_threshold=0.0)
    assert [r.chunk_id for r in kept] == ["b", "c"]
    assert {r.metadata["kept_by"] for r in kept} == {"image_vector"}


@pytest.mark.parametrize(("score", "threshold", "kept"), [(0.24, 0.0, 0), (0.25, 0.0, 1), (0.4, 0.5, 0), (0.5, 0.5, 1)])
def test_the_floor_is_the_threshold_and_never_below_a_quarter(result_of, score, threshold, kept) -> None:
    assert len(images.kept_pictures([picture(result_of, "a", score)], vector_threshold=threshold)) == kept


def test_an_image_full_of_text_is_judged_by_its_text(result_of) -> None:
    assert images.is_picture(picture(result_of, "a", 0.9, ocr="x" * 199))
    assert not images.is_picture(picture(result_of, "a", 0.9, ocr="x" * 200))
    assert not images.is_picture(result_of("t"))
