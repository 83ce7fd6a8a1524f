"""Other wordings without a model."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.domain.errors import EngineError
from opora.domain.search import EngineHit, ScoreKind
from opora.domain.settings import RetrievalSettings
from opora.retrieve import expand
from opora.retrieve.fuse import KEYWORD, ArmList


def test_function_words_go_and_order_turns() -> None:
    found = expand.variants("Как и когда компенсируют дорогу сотруднику?")
    assert found[0] == "компенсируют дорогу сотруднику"
    assert "сотруднику дорогу компенсируют" in found


def test_chinese_is_cut_into_words_and_mixed_text_by_script() -> None:
    words = expand.words("报销KB-1234差旅费用2024")
    assert "KB-1234" in words
    assert "2024" in words
    assert any(len(word) >= 2 and word in "差旅费用" for word in words)
    assert all(len(word) == 1 or not (word[0] in "报" and word[-1] in "4") for word in words)


def test_lengths_are_counted_in_characters() -> None:
    assert expand.MIN_WORD_CHARS == 2
    assert expand.variants("я и 你") == ()


@pytest.mark.parametrize(
    ("values", "found", "has_words", "wanted"),
    [
        ({}, 0, True, False),
        ({"enable_query_expansion": True}, 49, True, True),
        ({"enable_query_expansion": True}, 50, True, False),
        ({"enable_query_expansion": True}, 0, False, False),
    ],
)
def test_expansion_is_for_too_few_hits_where_words_are_searched(
    values: dict[str, bool], found: int, has_words: bool, wanted: bool
) -> None:
    assert expand.is_wanted(RetrievalSettings(**values), found=found, has_words=has_words) is wanted


def test_numbers_of_the_expansion() -> None:
    assert expand.top_k(RetrievalSettings(embedding_top_k=50, rerank_top_k=10)) == 100
    assert expand.top_k(RetrievalSettings(embedding_top_k=5, rerank_top_k=10)) == 20
    assert expand.threshold(0.5) == 0.4
    assert (expand.MAX_AT_ONCE, expand.THRESHOLD_FACTOR, expand.TOP_K_FACTOR) == (16, 0.8, 2)


def words_list(*scored: tuple[str, float]) -> ArmList:
    hits = [EngineHit(chunk_id=i, base_id="b", document_id="d", score=s, kind=ScoreKind.BM25) for i, s in scored]
    return ArmList(arm=KEYWORD, hits=hits)


async def test_results_land_by_variant_and_a_failure_is_a_warning() -> None:
    async def search(variant: str, top_k: int) -> list[ArmList]:
        if variant.startswith("сотруднику"):
            raise EngineError("down")
        return [words_list(("a", 10.0), ("b", 3.0), ("c", 1.0))]

    items, warning = await expand.search("Как и когда компенсируют дорогу сотруднику?", search, top_k=10, threshold=0.3)
    assert [item.chunk_id for item in items] == ["a", "b"]
    assert "down" in warning


async def test_at_most_sixteen_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expand, "variants", lambda query: tuple(f"{query} {n}" for n in range(40)))
    running = most = 0

    async def search(variant: str, top_k: int) -> list[ArmList]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return []

    assert await expand.search("слово", search, top_k=10, threshold=0.3) == ([], "")
    assert 1 < most <= expand.MAX_AT_ONCE


@settings(max_examples=50)
@given(st.text(max_size=80))
def test_variants_are_few_distinct_and_never_the_question_itself(query: str) -> None:
    found = expand.variants(query)
    assert len(found) == len(set(found)) <= expand.MAX_VARIANTS
    assert all(variant.strip() and variant.lower() != query.strip().lower() for variant in found)
