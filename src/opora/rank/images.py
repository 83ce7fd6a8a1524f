"""Keeps the few pictures that a model which reads only text turned down although their own vectors are near."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from opora.domain.knowledge import ChunkType
from opora.domain.search import SearchResult
from opora.text.image_info import read_image_info

TEXT_IMAGE_OCR_CHARS = 200
"""An image with this much recognised text (a screenshot, a table) is judged by its text like any other passage."""
MIN_IMAGE_VECTOR_SCORE = 0.25
MAX_KEPT_IMAGES = 2
KEPT_BY = "kept_by"
IMAGE_VECTOR = "image_vector"


def is_picture(result: SearchResult) -> bool:
    """An image found by its own vector whose recognised text is too short to stand for it."""
    if result.chunk_type is not ChunkType.IMAGE_VECTOR:
        return False
    return sum(len(image.ocr_text) for image in read_image_info(result.image_info)) < TEXT_IMAGE_OCR_CHARS


def kept_pictures(rejected: Iterable[SearchResult], *, vector_threshold: float) -> list[SearchResult]:
    """At most two rejected pictures whose vector score reaches max(threshold, 0.25), nearest first, marked as kept."""
    floor = max(vector_threshold, MIN_IMAGE_VECTOR_SCORE)
    near = [r for r in rejected if is_picture(r) and r.scores.get("vector", 0.0) >= floor]
    near.sort(key=lambda result: (-result.scores["vector"], result.chunk_id))
    return [replace(r, metadata={**r.metadata, KEPT_BY: IMAGE_VECTOR}) for r in near[:MAX_KEPT_IMAGES]]
