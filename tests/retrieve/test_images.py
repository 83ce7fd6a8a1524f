"""The image arm's depth, thresholds, filters and refills."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from opora.domain.errors import EngineError
from opora.domain.search import EngineHit, ScoreKind
from opora.retrieve import images


def hit(chunk_id: str, score: float = 0.5, base_id: str = "b") -> EngineHit:
    return EngineHit(chunk_id=chunk_id, base_id=base_id, document_id="d", score=score, kind=ScoreKind.COSINE)


@pytest.mark.parametrize(("top_k", "deeper"), [(50, 75), (333, 499), (400, 500), (500, 500)])
def test_the_list_goes_half_as_deep_again(top_k: int, deeper: int) -> None:
    assert images.image_top_k(top_k) == deeper


@pytest.mark.parametrize(("threshold", "image"), [(0.5, 0.1), (0.05, 0.05), (0.0, 0.0)])
def test_the_image_threshold_is_never_above_a_tenth(threshold: float, image: float) -> None:
    assert images.image_threshold(threshold) == image


def test_each_source_has_its_own_threshold() -> None:
    hits = [
        hit("text-low", 0.3),
        hit("text", 0.6),
        hit("image", 0.15),
        hit("image-low", 0.05),
        hit("image-off", 0.9, "x"),
    ]
    kept = images.filter_vector_hits(
        hits, {"image", "image-low", "image-off"}, image_base_ids={"b"}, vector_threshold=0.5
    )
    assert [h.chunk_id for h in kept] == ["text", "image"]


def test_image_rows_are_no_keyword_hits() -> None:
    assert [h.chunk_id for h in images.filter_keyword_hits([hit("a"), hit("i")], {"i"})] == ["a"]


class Index:
    """Rows best first, of which some must not be returned."""

    def __init__(self, rows: Sequence[EngineHit], fails_at: int = 0) -> None:
        self.rows = rows
        self.fails_at = fails_at
        self.depths: list[int] = []

    async def search(self, depth: int) -> Sequence[EngineHit]:
        self.depths.append(depth)
        if self.fails_at and depth >= self.fails_at:
            raise EngineError("down")
        return self.rows[:depth]


def texts(hits: Sequence[EngineHit]) -> Sequence[EngineHit]:
    return [h for h in hits if h.chunk_id.startswith("t")]


async def test_places_taken_by_dropped_rows_are_given_back() -> None:
    index = Index([hit(f"i{n}") for n in range(30)] + [hit(f"t{n}") for n in range(30)])
    kept = await images.refill(index.rows[:10], top_k=10, search=index.search, keep=texts)
    assert [h.chunk_id for h in kept] == [f"t{n}" for n in range(10)]
    assert index.depths == [20, 40]


async def test_no_more_than_four_refills_and_never_beyond_the_ceiling() -> None:
    index = Index([hit(f"i{n}") for n in range(1000)])
    assert await images.refill(index.rows[:50], top_k=50, search=index.search, keep=texts) == []
    assert index.depths == [100, 200, 400, 500]
    index.depths.clear()
    await images.refill(index.rows[:10], top_k=10, search=index.search, keep=texts)
    assert len(index.depths) == images.MAX_REFILLS == 4


async def test_a_failed_refill_keeps_the_round_before() -> None:
    index = Index([hit("t0"), *(hit(f"i{n}") for n in range(100))], fails_at=40)
    kept = await images.refill(index.rows[:10], top_k=10, search=index.search, keep=texts)
    assert ([h.chunk_id for h in kept], index.depths) == (["t0"], [20, 40])


async def test_an_exhausted_index_and_a_clean_list_need_no_refill() -> None:
    short = Index([hit("i0"), hit("t0")])
    assert [h.chunk_id for h in await images.refill(short.rows, top_k=10, search=short.search, keep=texts)] == ["t0"]
    clean = Index([hit(f"t{n}") for n in range(20)])
    assert len(await images.refill(clean.rows[:10], top_k=10, search=clean.search, keep=texts)) == 10
    assert short.depths == clean.depths == []
