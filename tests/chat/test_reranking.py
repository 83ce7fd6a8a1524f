"""A reranking model in a whole conversation: its word, its failure, and what citing a document does later."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from opora.domain.conversation import Finish
from opora.domain.errors import ModelError
from opora.domain.stream import ResponseType as R
from opora.models.scripted import ScriptedChat
from opora.ports import RerankerCard

QUESTION = "Когда возмещают расходы на проезд?"


class Judge:
    """Gives each passage the score that a test chose, or fails."""

    card = RerankerCard(identity="judge")

    def __init__(self, score: float = 0.0, error: Exception | None = None) -> None:
        self._score = score
        self._error = error
        self.asked: list[str] = []

    async def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        self.asked.append(query)
        if self._error is not None:
            raise self._error
        return [self._score for _ in passages]

    async def close(self) -> None: ...


def ranked_marks(trace) -> list[dict[str, object]]:
    return [mark for candidate in trace["candidates"] for mark in candidate["marks"] if mark["stage"] == "ranked"]


def about_reranking(warnings: Sequence[str]) -> list[str]:
    return [warning for warning in warnings if warning.startswith("Reranking")]


async def test_the_models_word_shows_in_the_trace(talk) -> None:
    judge = Judge(0.9)
    person = await talk(reranker=judge)
    await person.answer(QUESTION)
    assert judge.asked == [QUESTION]
    trace = (await person.message()).trace
    assert {mark["kind"] for mark in ranked_marks(trace)} == {"composite"}
    assert about_reranking(trace["warnings"]) == []
    assert trace["diagnostics"] == {}


async def test_what_the_model_turns_down_is_nothing_found_with_reasons(talk) -> None:
    person = await talk(reranker=Judge(0.01))
    events = await person.answer(QUESTION)
    assert events[-1].data == {"finish": "nothing_found"}
    stored = await person.message()
    assert stored.finish is Finish.NOTHING_FOUND
    assert {candidate["reason"] for candidate in stored.trace["candidates"]} == {"below_threshold"}
    assert "model score 0.010" in {candidate["detail"] for candidate in stored.trace["candidates"]}


@pytest.mark.parametrize("error", [ModelError("It is down.", hint="Check OPORA_RERANK_URL."), TimeoutError()])
async def test_a_model_that_fails_or_is_late_costs_no_answer_and_is_told(talk, error) -> None:
    person = await talk(reranker=Judge(error=error))
    events = await person.answer(QUESTION)
    reason = "It is down. Check OPORA_RERANK_URL." if error.args else "the model took longer than 60 s."
    warning = f"Reranking failed, the order is that of retrieval: {reason}"
    windows = [e.data for e in events if e.response_type is R.TOOL_RESULT and e.data["tool_name"] == "knowledge_search"]
    assert about_reranking(windows[0]["warnings"]) == [warning]
    assert events[-1].data == {"finish": "complete"}
    trace = (await person.message()).trace
    assert about_reranking(trace["warnings"]) == [warning]
    assert "composite" not in {mark["kind"] for mark in ranked_marks(trace)}


async def test_documents_cited_twice_are_preferred_from_then_on(talk) -> None:
    person = await talk()
    seen = []
    for _ in range(3):
        await person.answer(QUESTION)
        seen.append([r.metadata.get("memory_affinity") for r in (await person.message()).references])
    assert seen[0] == seen[1] == [None] * len(seen[0])
    assert seen[2] == [pytest.approx(1.05)] * len(seen[2])


async def test_an_answer_without_citations_counts_for_nothing(talk) -> None:
    model = ScriptedChat(["Не знаю, но <kb текст"])
    person = await talk(model)
    for _ in range(3):
        await person.answer(QUESTION)
    assert all("memory_affinity" not in r.metadata for r in (await person.message()).references)
