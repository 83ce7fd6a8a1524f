"""Pairing of messages into rounds."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from opora.domain.conversation import Finish, Message, Role
from opora.pipeline.history import recent_limit, rounds

START = datetime(2026, 1, 1, tzinfo=UTC)


def pair(number: int, answer: str, **changes: object) -> list[Message]:
    at = START + timedelta(minutes=number)
    question = Message(
        message_id=f"q{number}",
        session_id="s",
        tenant_id="default",
        request_id=f"r{number}",
        role=Role.USER,
        content=f"question {number}",
        rendered_content="<context>never replayed</context>",
        is_completed=True,
        created_at=at,
        updated_at=at,
    )
    reply = replace(
        question,
        message_id=f"a{number}",
        role=Role.ASSISTANT,
        content=answer,
        rendered_content="",
        finish=Finish.COMPLETE,
    )
    return [question, replace(reply, **changes)]


@pytest.mark.parametrize(("max_rounds", "limit"), [(5, 20), (1, 12), (0, 10)])
def test_reads_two_messages_a_round_and_ten_to_spare(max_rounds: int, limit: int) -> None:
    assert recent_limit(max_rounds) == limit


def test_last_rounds_in_the_order_of_time() -> None:
    messages = [m for n in range(4) for m in pair(n, f"answer {n}")]
    found = rounds(reversed(messages), max_rounds=2)
    assert [(r.question, r.answer) for r in found] == [("question 2", "answer 2"), ("question 3", "answer 3")]


@pytest.mark.parametrize(
    ("answer", "changes"),
    [
        ("", {}),
        ("   \n", {}),
        ("<think>only thoughts</think>", {}),
        ("half", {"is_completed": False, "finish": None}),
        ("half", {"finish": Finish.ERROR}),
    ],
)
def test_unfinished_failed_and_empty_answers_are_no_rounds(answer: str, changes: dict[str, object]) -> None:
    messages = [*pair(1, "good"), *pair(2, answer, **changes)]
    assert [r.request_id for r in rounds(messages, max_rounds=1)] == ["r1"]


def test_a_stopped_answer_counts_once_with_what_was_written() -> None:
    assert [r.answer for r in rounds(pair(1, "Итого: 12", finish=Finish.STOPPED), max_rounds=5)] == ["Итого: 12"]


@pytest.mark.parametrize("tag", ["think", "thinking", "THINK"])
def test_thinking_is_removed(tag: str) -> None:
    assert rounds(pair(1, f"<{tag}>a\nb</{tag}>\nyes"), max_rounds=1)[0].answer == "yes"


def test_the_request_being_answered_and_lone_messages_are_left_out() -> None:
    messages = [*pair(1, "one"), *pair(2, "two"), pair(3, "")[0], pair(4, "orphan")[1]]
    assert [r.request_id for r in rounds(messages, max_rounds=5, without="r2")] == ["r1"]


@pytest.mark.parametrize("max_rounds", [0, -3])
def test_no_rounds_wanted(max_rounds: int) -> None:
    assert rounds(pair(1, "one"), max_rounds=max_rounds) == ()
