"""Follow-ups without a model."""

from __future__ import annotations

import pytest

from opora.domain.conversation import Round
from opora.understand.follow_up import follow_up_query, leans_on_last


def rounds(*questions: str) -> list[Round]:
    return [Round(request_id=str(n), question=q, answer="ответ") for n, q in enumerate(questions)]


@pytest.mark.parametrize(
    "question",
    [
        "а сроки?",
        "Сколько он стоит?",
        "И в Париже тоже так?",
        "сроки?",
        "and in Paris?",
        "How long does it take?",
        "它多少钱?",
        "时间呢?",
    ],
)
def test_these_lean_on_the_last_question(question: str) -> None:
    assert leans_on_last(question)


@pytest.mark.parametrize(
    "question",
    [
        "Когда компенсируют дорогу после поездки?",
        "Что такое НДС?",
        "What is the daily allowance for trips abroad?",
        "What must be attached to the report so that it is accepted in time?",
        "出差费用什么时候报销",
        "什么是增值税",
    ],
)
def test_these_stand_alone(question: str) -> None:
    assert not leans_on_last(question)
    assert follow_up_query(question, rounds("Как оформить отпуск?")) == ""


def test_a_chain_is_traced_to_the_question_that_stands_alone() -> None:
    history = rounds("Как оформить ежегодный отпуск?", "Когда компенсируют дорогу после поездки?", "а сроки?")
    assert follow_up_query("и документы?", history) == "Когда компенсируют дорогу после поездки? а сроки? и документы?"
    assert follow_up_query("и документы?", []) == ""


def test_a_joined_question_is_never_too_long() -> None:
    assert follow_up_query("а сроки?", rounds("ж" * 9_999)) == ""
