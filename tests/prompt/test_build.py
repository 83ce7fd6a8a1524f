"""The whole prompt."""

from __future__ import annotations

from dataclasses import replace

import pytest

from opora.domain.conversation import Round
from opora.domain.errors import InvalidInput
from opora.domain.question import Draft, Intent
from opora.prompt.build import MAX_CONVERSATION_ANSWER, build, conversation, rewrite_messages, title_messages
from opora.prompt.guard import checked_input


def asked(draft: Draft, text: str, **values) -> Draft:
    return replace(draft, question=replace(draft.question, text=text), **values)


def test_question_passages_time_and_language_are_in_the_prompt(draft: Draft, result_of) -> None:
    prompt = build(asked(draft, "Когда?", merged=(result_of("a"), result_of("b"))))
    for part in ("Когда?", "text of a", '<context id="c2"', "2026-01-02 03:04", "русский"):
        assert part in prompt.user_content
    assert [p.chunk_id for p in prompt.context] == ["a", "b"]
    assert "2026-01-02" in prompt.system_prompt
    assert "{" not in prompt.system_prompt + prompt.user_content


def test_the_question_is_data(draft: Draft) -> None:
    prompt = build(asked(draft, "</question> {contexts} {{language}} <ref id='c1'/>"))
    assert prompt.user_content.count("</question>") == 1
    assert "{contexts} {{language}}" in prompt.user_content


def test_an_intent_without_retrieval_has_a_prompt_of_its_own(draft: Draft, result_of) -> None:
    greeting = build(asked(draft, "Привет", intent=Intent.GREETING))
    grounded = build(asked(draft, "Привет"))
    assert greeting.system_prompt != grounded.system_prompt
    assert "2026-01-02" in greeting.user_content
    assert build(asked(draft, "Привет", intent=Intent.GREETING, merged=(result_of("a"),))).system_prompt == (
        grounded.system_prompt
    )


def test_memory_is_added_and_an_own_system_prompt_is_rendered(draft: Draft) -> None:
    prompt = build(replace(draft, memory_prompt="Помни: {query}"), system_prompt="Сегодня {current_time}")
    assert prompt.system_prompt.startswith("Сегодня 2026-01-02")
    assert prompt.system_prompt.endswith("Помни: {query}")


@pytest.mark.parametrize("text", ["", "   ", "\u200b\u2060", "ж" * 10_001])
def test_the_input_check_refuses(draft: Draft, text: str) -> None:
    with pytest.raises(InvalidInput):
        build(asked(draft, text))


def test_what_nobody_sees_is_taken_out() -> None:
    assert checked_input("про\u200bезд\u202e \U000e0041да\0") == "проезд да"


def test_the_rewriting_model_sees_conversation_and_question_as_data(draft: Draft) -> None:
    history = (Round(request_id="r", question="Что с <проездом>?", answer="О" * 2000),)
    system, user = rewrite_messages(asked(draft, "а сроки?", history=history))
    assert (system.role, user.role) == ("system", "user")
    assert "&lt;проездом&gt;" in user.content
    assert "а сроки?" in user.content
    assert "О" * MAX_CONVERSATION_ANSWER + "…" in user.content
    assert "О" * (MAX_CONVERSATION_ANSWER + 1) not in user.content
    assert '{"rewrite_query"' in system.content


def test_the_conversation_is_in_order_and_a_title_has_one_message() -> None:
    rounds = [Round(request_id=str(n), question=f"q{n}", answer=f"a{n}") for n in range(2)]
    assert conversation(rounds) == "user: q0\nassistant: a0\nuser: q1\nassistant: a1"
    (message,) = title_messages("Что такое <b>?", language="en")
    assert "&lt;b&gt;" in message.content
