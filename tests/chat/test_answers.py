"""What a person gets: events in order, one terminal event, and a stored message that says the same."""

from __future__ import annotations

import pytest

from opora.domain.conversation import Finish
from opora.domain.errors import InvalidInput, ModelError
from opora.domain.stream import ResponseType as R
from opora.models.scripted import ScriptedChat
from opora.ports import ChatDelta

QUESTION = "Когда возмещают расходы на проезд?"


def said(events) -> str:
    return "".join(e.content for e in events if e.response_type is R.ANSWER)


def kinds(events) -> list[str]:
    return [e.response_type.value for e in events]


async def test_quotes_with_citations_when_there_is_no_chat_model(talk) -> None:
    person = await talk()
    events = await person.answer(QUESTION)
    order = kinds(events)
    assert order[0] == "agent_query"
    assert order[-1] == "complete"
    assert order.count("complete") == 1
    assert order.index("references") < order.index("answer")
    assert events[-1].data == {"finish": "complete"}
    references = next(e for e in events if e.response_type is R.REFERENCES).references
    text = said(events)
    assert "Расходы на проезд возмещают по документам после возвращения." in text
    assert f'chunk_id="{references[0].chunk_id}"' in text
    assert all(e.data["extractive"] for e in events if e.response_type is R.ANSWER and e.content)
    stored = await person.message()
    assert (stored.content, stored.finish, stored.is_completed) == (text, Finish.COMPLETE, True)
    assert [r.chunk_id for r in stored.references] == [r.chunk_id for r in references]


async def test_a_written_answer_is_decoded_on_its_way(talk) -> None:
    model = ScriptedChat(["После возвращения<re", 'f id="c1"', '/>. И ещё<ref id="c99"/>'])
    person = await talk(model)
    events = await person.answer(QUESTION)
    references = next(e for e in events if e.response_type is R.REFERENCES).references
    text = said(events)
    assert text.startswith("После возвращения<kb ")
    assert f'chunk_id="{references[0].chunk_id}"' in text
    assert text.endswith("И ещё")
    assert "<ref" not in text
    system, *_, user = model.asked[-1]
    assert system.role == "system"
    assert "Расходы на проезд" in user.content


async def test_progress_windows_come_in_pairs_around_the_search(talk) -> None:
    person = await talk()
    events = await person.answer(QUESTION)
    windows = [
        (e.response_type, e.data["tool_name"]) for e in events if e.response_type in (R.TOOL_CALL, R.TOOL_RESULT)
    ]
    assert windows == [
        (R.TOOL_CALL, "query_understand"),
        (R.TOOL_RESULT, "query_understand"),
        (R.TOOL_CALL, "knowledge_search"),
        (R.TOOL_RESULT, "knowledge_search"),
    ]
    assert all(e.data["success"] for e in events if e.response_type is R.TOOL_RESULT)


async def test_nothing_found_says_so_in_the_language_of_the_question(talk) -> None:
    person = await talk()
    events = await person.answer("zzzqx wvutk")
    assert events[-1].data["finish"] == "nothing_found"
    assert said(events)
    assert (await person.message()).finish is Finish.NOTHING_FOUND
    assert next(e for e in events if e.response_type is R.REFERENCES).references == ()
    russian = said(await person.answer("щщщщ ъъъъ"))
    assert russian != said(events)


@pytest.mark.parametrize(
    ("pieces", "reason", "text", "finish"),
    [
        (["Да"], "stop", "Да", "complete"),
        (["Да"], "STOP", "Да", "complete"),
        ([ChatDelta(content="Да", finish_reason="stop"), "лишнее"], "stop", "Да", "complete"),
        (["Да"], "length", "Да", "truncated"),
        (["Да"], "MAX_TOKENS", "Да", "truncated"),
        (["Да"], "max_output_tokens", "Да", "truncated"),
        (["Да", ModelError("overloaded")], "stop", "Да", "error"),
        ([ModelError("down")], "stop", "", "error"),
        ([], "content_filter", "", "error"),
        ([], "tool_calls", "", "error"),
        ([], "", "", "error"),
    ],
)
async def test_every_end_of_a_model_gives_one_closing_event_and_then_complete(
    talk, pieces, reason: str, text: str, finish: str
) -> None:
    # The reply to the rewriting call is the same script; what can't be read there leaves the question as it is.
    person = await talk(ScriptedChat(pieces, finish_reason=reason))
    events = await person.answer(QUESTION)
    closing = [e for e in events if e.done and e.response_type in (R.ANSWER, R.ERROR)]
    assert len(closing) == 1
    assert closing[0].response_type is (R.ERROR if finish == "error" else R.ANSWER)
    assert events[-1].response_type is R.COMPLETE
    assert events[-1].data["finish"] == finish
    assert said(events) == text
    assert closing[0].data.get("truncated", False) is (finish == "truncated")
    stored = await person.message()
    assert (stored.content, stored.finish.value, stored.is_completed) == (text, finish, True)


@pytest.mark.parametrize("pieces", [[], [ChatDelta(thinking="x" * 4096)]])
async def test_a_limit_reached_before_the_first_word_gives_a_hint_as_the_answer(talk, pieces) -> None:
    person = await talk(ScriptedChat(pieces, finish_reason="length"))
    events = await person.answer(QUESTION)
    assert said(events).strip()
    assert events[-1].data["finish"] == "truncated"


async def test_a_failure_inside_closes_the_window_and_says_that_it_failed(talk, monkeypatch) -> None:
    person = await talk()

    async def broken(*args, **kwargs):
        raise RuntimeError("secret detail")

    monkeypatch.setattr(person.app.search, "search", broken)
    events = await person.answer(QUESTION)
    last = [e for e in events if e.response_type is R.TOOL_RESULT][-1]
    assert last.data["tool_name"] == "knowledge_search"
    assert last.data["success"] is False
    assert kinds(events)[-2:] == ["error", "complete"]
    assert "secret" not in events[-2].content
    assert (await person.message()).finish is Finish.ERROR


@pytest.mark.parametrize("query", ["", "  \n", "\x00", "ж" * 10_001])
async def test_a_question_that_does_not_fit_is_refused_before_anything_is_stored(talk, query: str) -> None:
    person = await talk()
    with pytest.raises(InvalidInput) as caught:
        await person.ask(query)
    assert caught.value.details["field"] == "query"
    assert await person.app.sessions.messages(person.scope, person.session_id) == []


async def test_a_setting_of_the_request_is_in_the_trace_with_its_origin_and_an_unknown_one_is_refused(talk) -> None:
    person = await talk()
    await person.answer(QUESTION, overrides={"rerank_top_k": 1})
    trace = (await person.message()).trace
    assert trace["settings"]["rerank_top_k"] == {"value": 1, "origin": "request"}
    assert trace["settings"]["rrf_k"] == {"value": 60, "origin": "default"}
    with pytest.raises(InvalidInput):
        await person.ask(QUESTION, overrides={"no_such": 1})


async def test_the_same_question_over_the_same_data_gives_the_same_trace_but_for_times(talk) -> None:
    person = await talk()
    traces = []
    for _ in range(2):
        session = await person.app.sessions.create(person.scope)
        person.session_id = session.session_id
        await person.answer(QUESTION)
        traces.append({k: v for k, v in (await person.message()).trace.items() if k != "times"})
    assert traces[0] == traces[1]
    assert traces[0]["candidates"]


async def test_what_was_sent_to_the_model_is_kept_and_never_replayed(talk) -> None:
    model = ScriptedChat(["Ответ"])
    person = await talk(model)
    await person.answer(QUESTION)
    question, answer = await person.app.sessions.messages(person.scope, person.session_id)
    assert "Расходы на проезд" in question.rendered_content
    assert question.content == QUESTION
    await person.answer("А для отпуска?")
    history = model.asked[-1][1:-1]
    assert [(m.role, m.content) for m in history] == [("user", QUESTION), ("assistant", answer.content)]


async def test_a_new_session_takes_its_title_from_the_first_question(talk) -> None:
    person = await talk()
    await person.answer(QUESTION)
    assert (await person.app.sessions.get(person.scope, person.session_id)).title == QUESTION
    await person.answer("Другой вопрос?")
    assert (await person.app.sessions.get(person.scope, person.session_id)).title == QUESTION
