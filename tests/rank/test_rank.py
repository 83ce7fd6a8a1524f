"""The whole of ranking, with a model, without one, and with one that fails."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Sequence

import pytest

from opora.domain.errors import ModelError
from opora.domain.knowledge import ChunkType
from opora.domain.search import MatchType, ScoreKind
from opora.domain.settings import Effective, RetrievalSettings
from opora.ports import RerankerCard
from opora.rank.enrich import enriched_passage
from opora.rank.rank import rank
from opora.rank.rerank import MAX_CANDIDATES, RERANK_TIMEOUT


class ByName:
    """A reranker that gives each passage the score a test chose for a word in it."""

    def __init__(self, scores: dict[str, float], *, card: RerankerCard | None = None, error: Exception | None = None):
        self._scores = scores
        self._error = error
        self._card = card or RerankerCard(identity="by-name")
        self.passages: list[str] = []

    @property
    def card(self) -> RerankerCard:
        return self._card

    async def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        self.passages += passages
        if self._error is not None:
            raise self._error
        return [next((s for word, s in self._scores.items() if word in text), 0.0) for text in passages]

    async def close(self) -> None: ...


def settings(**values) -> Effective:
    return Effective(values=RetrievalSettings(**values))


async def test_without_a_model_the_order_is_that_of_retrieval_and_nothing_is_cut_by_threshold(result_of) -> None:
    found = [result_of("b", 0.1, content="вторая глава"), result_of("a", 0.2, content="первая статья")]
    stage = await rank(found, query="q")
    assert [(r.chunk_id, r.score, r.kind) for r in stage.results] == [
        ("a", 0.2, ScoreKind.RRF),
        ("b", 0.1, ScoreKind.RRF),
    ]
    assert [r.ranks["ranked"] for r in stage.results] == [1, 2]
    assert stage.warnings == stage.drops == ()


async def test_graph_hits_without_a_score_go_last(result_of) -> None:
    found = [result_of("g", 0.0, match_type=MatchType.GRAPH), result_of("n", -0.2, content="other words")]
    assert [r.chunk_id for r in (await rank(found, query="q")).results] == ["n", "g"]


async def test_the_model_decides_and_what_is_below_is_named(result_of) -> None:
    found = [
        result_of("a", 0.9, content="alpha"),
        result_of("b", 0.2, content="beta"),
        result_of("c", 0.3, content="gamma"),
    ]
    stage = await rank(found, query="q", reranker=ByName({"alpha": 0.1, "beta": 0.9, "gamma": 0.5}))
    assert [(r.chunk_id, r.kind) for r in stage.results] == [("b", ScoreKind.COMPOSITE), ("c", ScoreKind.COMPOSITE)]
    assert stage.results[0].score == pytest.approx(0.6 * 0.9 + 0.3 * 0.2 + 0.1)
    assert [(d.chunk_id, d.reason, d.detail) for d in stage.drops] == [("a", "below_threshold", "model score 0.100")]


async def test_nothing_good_enough_is_an_empty_list_unless_the_scope_was_picked(result_of) -> None:
    found = [result_of("a", 0.9, content="alpha"), result_of("b", 0.2, content="beta")]
    low = ByName({"alpha": 0.1, "beta": 0.05})
    assert (await rank(found, query="q", reranker=low)).results == ()
    assert [r.chunk_id for r in (await rank(found, query="q", reranker=low, explicit_scope=True)).results] == ["a"]


@pytest.mark.parametrize("error", [ModelError("out of order"), None])
async def test_a_model_that_fails_or_dawdles_is_a_warning(result_of, error) -> None:
    class Slow(ByName):
        async def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
            if error is not None:
                raise error
            await asyncio.Event().wait()
            return []

    stage = await rank([result_of("a", 0.2), result_of("b", 0.9)], query="q", reranker=Slow({}), seconds=0.0)
    assert [(r.chunk_id, r.score, r.kind) for r in stage.results] == [
        ("b", 0.9, ScoreKind.RRF),
        ("a", 0.2, ScoreKind.RRF),
    ]
    reason = "out of order" if error else "the model took longer than 0 s"
    assert len(stage.warnings) == 1
    assert reason in stage.warnings[0]
    assert stage.drops == ()
    assert RERANK_TIMEOUT == 60.0


async def test_a_model_that_fails_says_how_to_mend_it(result_of) -> None:
    broken = ByName({}, error=ModelError("refused.", hint="Check OPORA_RERANK_KEY."))
    stage = await rank([result_of("a")], query="q", reranker=broken)
    assert stage.warnings == ("Reranking failed, the order is that of retrieval: refused. Check OPORA_RERANK_KEY.",)


@pytest.mark.parametrize("reranker", [None, ByName({}, error=ModelError("out of order"))])
async def test_faq_entries_are_raised_and_variety_is_sought_without_a_model_too(result_of, reranker) -> None:
    found = [
        result_of("a", 0.5, content="one two three four five"),
        result_of("b", 0.49, content="one two three four five"),
        result_of("c", 0.3, content="six seven eight nine ten"),
        result_of("f", 0.45, content="another thing altogether", chunk_type=ChunkType.FAQ),
    ]
    stage = await rank(found, query="q", reranker=reranker, settings=settings(rerank_top_k=3))
    assert [r.chunk_id for r in stage.results] == ["f", "a", "c"]
    assert [(d.chunk_id, d.reason) for d in stage.drops] == [("b", "not_diverse")]


async def test_the_question_that_is_searched_is_the_one_that_is_judged(result_of) -> None:
    class Asked(ByName):
        async def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
            self.passages.append(query)
            return [0.9]

    model = Asked({})
    await rank([result_of("a")], query="переписанный вопрос", reranker=model)
    assert model.passages == ["переписанный вопрос"]


@pytest.mark.parametrize("reply", [[0.5], [0.5, 0.5, 0.5], [math.nan, 0.5]])
async def test_a_reply_that_does_not_fit_is_a_failure(result_of, reply) -> None:
    class Odd(ByName):
        async def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
            return reply

    stage = await rank([result_of("a", 0.2), result_of("b", 0.9)], query="q", reranker=Odd({}))
    assert [r.chunk_id for r in stage.results] == ["b", "a"]
    assert len(stage.warnings) == 1


async def test_at_most_two_hundred_are_shown_and_long_ones_are_cut_at_their_end(result_of) -> None:
    model = ByName({"text": 0.9}, card=RerankerCard(identity="m", max_passage_chars=6))
    found = [result_of(f"{n:03}", 1.0 - n / 1000) for n in range(205)]
    stage = await rank(found, query="q", reranker=model, settings=settings(rerank_top_k=300))
    assert len(model.passages) == MAX_CANDIDATES == 200
    assert set(model.passages) == {"text o"}
    assert [d.chunk_id for d in stage.drops] == [f"{n:03}" for n in range(200, 205)]


async def test_faq_is_raised_and_alike_ones_make_room(result_of) -> None:
    found = [
        result_of("a", 0.6, content="one two three four five six seven eight"),
        result_of("b", 0.59, content="one two three four five six seven eight"),
        result_of("c", 0.5, content="quite other words here"),
        result_of("f", 0.55, content="frequent question", chunk_type=ChunkType.FAQ),
    ]
    stage = await rank(found, query="q", settings=settings(rerank_top_k=3))
    assert [r.chunk_id for r in stage.results] == ["f", "a", "c"]
    assert stage.results[0].score == pytest.approx(0.66)
    assert [(d.chunk_id, d.reason) for d in stage.drops] == [("b", "not_diverse")]


async def test_rejected_pictures_come_after_the_others_and_beyond_the_count(result_of) -> None:
    image = {"chunk_type": ChunkType.IMAGE_VECTOR, "scores": {"vector": 0.6}}
    found = [result_of("a", 0.9, content="alpha"), result_of("p", 0.5, content="picture", **image)]
    stage = await rank(found, query="q", reranker=ByName({"alpha": 0.9}), settings=settings(rerank_top_k=1))
    assert [r.chunk_id for r in stage.results] == ["a", "p"]
    assert stage.drops == ()
    alone = await rank(found, query="q", reranker=ByName({}))
    assert [r.chunk_id for r in alone.results] == ["p"]
    assert stage.diagnostics == alone.diagnostics == {"images_scored": 1, "images_kept": 1}
    assert (await rank(found[:1], query="q", reranker=ByName({"alpha": 0.9}))).diagnostics == {}


async def test_a_picture_that_its_text_brings_through_is_ranked_like_any_other(result_of) -> None:
    image = {"chunk_type": ChunkType.IMAGE_VECTOR, "scores": {"vector": 0.6}}
    found = [result_of("a", 0.9, content="alpha"), result_of("p", 0.5, content="picture", **image)]
    stage = await rank(found, query="q", reranker=ByName({"alpha": 0.5, "picture": 0.9}))
    assert [r.chunk_id for r in stage.results] == ["p", "a"]
    assert "kept_by" not in stage.results[0].metadata
    assert stage.diagnostics == {"images_scored": 1, "images_kept": 0}


async def test_a_model_that_is_shown_pictures_has_the_last_word_on_them(result_of) -> None:
    image = {"chunk_type": ChunkType.IMAGE_VECTOR, "scores": {"vector": 0.6}}
    found = [result_of("a", 0.9, content="alpha"), result_of("p", 0.5, content="picture", **image)]
    seeing = ByName({"alpha": 0.9}, card=RerankerCard(identity="m", sees_images=True))
    stage = await rank(found, query="q", reranker=seeing)
    assert [r.chunk_id for r in stage.results] == ["a"]
    assert [(d.chunk_id, d.reason) for d in stage.drops] == [("p", "below_threshold")]


def test_passages_are_enriched_without_repeats(result_of) -> None:
    info = [{"url": "/x", "caption": "Схема", "ocr_text": "Текст  раздела"}]
    result = result_of(
        "a",
        content="**Текст** раздела",
        image_info=json.dumps(info, ensure_ascii=False),
        metadata={"generated_questions": ["Что это?", "Схема", 7]},
    )
    assert enriched_passage(result) == "Текст раздела\nСхема\nЧто это?"
    assert enriched_passage(result_of("b", content="# Х", context="А > Б")) == "А > Б\nХ"
