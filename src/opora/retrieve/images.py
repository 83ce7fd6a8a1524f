"""The rules of searching images by their own vectors: a deeper list, a lower threshold, and places given back to text.

Similarity between a question and an image is lower by nature than between texts, so images have a threshold of their
own. Rows that must not be returned are only known after the engine has cut the list, hence the refilling.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence

from opora.domain.errors import OporaError
from opora.domain.search import MAX_POOL_SIZE, EngineHit

TOP_K_FACTOR = 1.5
IMAGE_THRESHOLD = 0.1
MAX_REFILLS = 4
REFILL_FACTOR = 2


def image_top_k(top_k: int) -> int:
    """How deep the vector list goes where images take part: half as deep again, at most 500."""
    return min(int(top_k * TOP_K_FACTOR), MAX_POOL_SIZE)


def image_threshold(vector_threshold: float) -> float:
    """The threshold of image hits: never above 0.1."""
    return min(vector_threshold, IMAGE_THRESHOLD)


def keep_vector_hit(
    hit: EngineHit, *, is_image: bool, image_base_ids: Collection[str], vector_threshold: float
) -> bool:
    """Text by its own threshold; an image by the lower one, and only from a base that has images switched on.

    A threshold of 0 filters nothing.
    """
    if is_image and hit.base_id not in image_base_ids:
        return False
    threshold = image_threshold(vector_threshold) if is_image else vector_threshold
    return threshold == 0 or hit.score >= threshold


def filter_vector_hits(
    hits: Sequence[EngineHit],
    image_chunk_ids: Collection[str],
    *,
    image_base_ids: Collection[str],
    vector_threshold: float,
) -> list[EngineHit]:
    return [
        hit
        for hit in hits
        if keep_vector_hit(
            hit,
            is_image=hit.chunk_id in image_chunk_ids,
            image_base_ids=image_base_ids,
            vector_threshold=vector_threshold,
        )
    ]


def filter_keyword_hits(hits: Sequence[EngineHit], image_chunk_ids: Collection[str]) -> list[EngineHit]:
    """Image rows never count as keyword hits: their words are the caption's, which has a row of its own."""
    return [hit for hit in hits if hit.chunk_id not in image_chunk_ids]


async def refill(
    first: Sequence[EngineHit],
    *,
    top_k: int,
    search: Callable[[int], Awaitable[Sequence[EngineHit]]],
    keep: Callable[[Sequence[EngineHit]], Sequence[EngineHit]],
) -> list[EngineHit]:
    """Hits that are kept, searched for deeper while dropped rows took their places, cut to ``top_k``.

    The depth doubles each time, at most `MAX_REFILLS` times and to 500, and stops when the index is exhausted. Best
    effort: when a deeper search fails, the round before it stands.
    """
    hits: Sequence[EngineHit] = first
    kept = keep(hits)
    depth = top_k
    for _ in range(MAX_REFILLS):
        is_full = len(hits) >= depth
        if not is_full or len(kept) >= top_k or len(kept) == len(hits) or depth >= MAX_POOL_SIZE:
            break
        depth = min(depth * REFILL_FACTOR, MAX_POOL_SIZE)
        try:
            hits = await search(depth)
        except OporaError:
            break
        kept = keep(hits)
    return list(kept[:top_k])
