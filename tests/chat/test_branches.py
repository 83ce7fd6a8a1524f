"""Fork, rewind, clear, delete, judge, ask again: what stays, what goes, and what runs meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from opora.domain.conversation import Attachment, Beside, Feedback, Finish, Role, Thumb
from opora.domain.errors import InvalidInput, NotFound
from opora.domain.scope import LOCAL_PRINCIPAL, Principal, Scope
from opora.domain.stream import ResponseType as R
from opora.models.scripted import ScriptedChat
from opora.ports import Page

PLAIN = {"enable_rewrite": False}
COLLEAGUE = Scope(principal=Principal(tenant_id=LOCAL_PRINCIPAL.tenant_id, user_id="colleague"))
FIRST, SECOND = "Когда возмещают проезд?", "Сколько длится отпуск?"


@pytest.fixture
async def two_rounds(talk):
    person = await talk(ScriptedChat(["Да"]))
    await person.answer(FIRST, overrides=PLAIN, request={"knowledge_ids": ["d"]})
    await person.answer(SECOND, overrides=PLAIN, request={"explain": True})
    return person


def prompts(model: ScriptedChat) -> list:
    """What the model was asked, but for titles."""
    return [asked for asked in model.asked if asked[0].role == "system"]


async def texts(person, session_id: str = "") -> list[str]:
    messages = await person.app.sessions.messages(person.scope, session_id or person.session_id, limit=100)
    return [message.content for message in messages]


async def ids(person) -> list[str]:
    messages = await person.app.sessions.messages(person.scope, person.session_id, limit=100)
    return [message.message_id for message in messages]


async def test_a_fork_has_the_history_up_to_a_message_and_leaves_its_source_alone(two_rounds) -> None:
    app, scope = two_rounds.app, two_rounds.scope
    before = await ids(two_rounds)
    fork = await app.branches.fork(scope, two_rounds.session_id, before[1])
    assert (fork.parent_session_id, fork.forked_from_message_id) == (two_rounds.session_id, before[1])
    assert await texts(two_rounds, fork.session_id) == [FIRST, "Да"]
    assert await ids(two_rounds) == before
    whole = await app.branches.fork(scope, two_rounds.session_id, title="Другое")
    assert (whole.title, whole.forked_from_message_id) == ("Другое", before[-1])
    assert await texts(two_rounds, whole.session_id) == [FIRST, "Да", SECOND, "Да"]
    assert (await app.sessions.get(scope, whole.session_id)) == whole


async def test_a_fork_goes_on_with_its_history(two_rounds) -> None:
    app, scope = two_rounds.app, two_rounds.scope
    fork = await app.branches.fork(scope, two_rounds.session_id, (await ids(two_rounds))[1])
    asked = await app.chat.ask(scope, fork.session_id, "А за границей?", overrides=PLAIN)
    async for _ in app.chat.follow(scope, fork.session_id, asked.assistant_message_id):
        pass
    said = [message.content for message in prompts(app._models.chat)[-1]]
    assert FIRST in said
    assert SECOND not in said


async def test_rewind_removes_what_came_after(two_rounds) -> None:
    app, scope = two_rounds.app, two_rounds.scope
    before = await ids(two_rounds)
    assert set(await app.branches.rewind(scope, two_rounds.session_id, before[1])) == set(before[2:])
    assert await ids(two_rounds) == before[:2]
    assert await app.branches.rewind(scope, two_rounds.session_id, before[1]) == []
    await app.branches.rewind(scope, two_rounds.session_id, before[0])
    assert await texts(two_rounds) == [FIRST]


async def test_one_message_and_all_of_them(two_rounds) -> None:
    app, scope = two_rounds.app, two_rounds.scope
    before = await ids(two_rounds)
    await app.branches.delete_message(scope, two_rounds.session_id, before[1])
    assert await ids(two_rounds) == [before[0], *before[2:]]
    await two_rounds.answer(SECOND, overrides=PLAIN)
    said = [message.content for message in prompts(app._models.chat)[-1]]
    assert FIRST not in said
    assert SECOND in said
    assert len(await app.branches.clear(scope, two_rounds.session_id)) == 5
    assert await ids(two_rounds) == []
    assert (await app.sessions.get(scope, two_rounds.session_id)).session_id == two_rounds.session_id


async def test_several_sessions_at_once_and_only_ones_own(two_rounds) -> None:
    app, scope = two_rounds.app, two_rounds.scope
    other = await app.sessions.create(scope)
    theirs = await app.sessions.create(COLLEAGUE)
    wanted = [two_rounds.session_id, other.session_id, theirs.session_id, "no-such"]
    assert await app.sessions.delete_many(scope, wanted) == sorted([two_rounds.session_id, other.session_id])
    assert (await app.sessions.browse(scope, Page())).total == 0
    assert (await app.sessions.get(COLLEAGUE, theirs.session_id)) == theirs


async def test_what_a_stranger_may_not_do(two_rounds) -> None:
    branches, session_id = two_rounds.app.branches, two_rounds.session_id
    _, answer, *_ = before = await ids(two_rounds)
    for call in (
        branches.fork(COLLEAGUE, session_id, answer),
        branches.rewind(COLLEAGUE, session_id, answer),
        branches.clear(COLLEAGUE, session_id),
        branches.delete_message(COLLEAGUE, session_id, answer),
        branches.feedback(COLLEAGUE, answer, thumb=Thumb.UP),
        branches.question_of(COLLEAGUE, answer),
        branches.fork(two_rounds.scope, session_id, "no-such"),
    ):
        with pytest.raises(NotFound):
            await call
    other = await two_rounds.app.sessions.create(two_rounds.scope)
    for call in (
        branches.rewind(two_rounds.scope, other.session_id, answer),
        branches.delete_message(two_rounds.scope, other.session_id, answer),
        branches.fork(two_rounds.scope, other.session_id, answer),
    ):
        with pytest.raises(NotFound):
            await call
    assert await ids(two_rounds) == before


@pytest.mark.parametrize("way", ["rewind", "clear", "delete", "delete_many", "delete_message"])
async def test_an_answer_that_runs_is_stopped_before_it_is_taken_away(talk, way: str) -> None:
    running, forever = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        running.set()
        await forever.wait()

    person = await talk(ScriptedChat(["Да"], before_each=hold))
    app, scope = person.app, person.scope
    await person.ask(FIRST, overrides=PLAIN)
    await running.wait()
    question, answer = await ids(person)
    calls = {
        "rewind": lambda: app.branches.rewind(scope, person.session_id, question),
        "clear": lambda: app.branches.clear(scope, person.session_id),
        "delete": lambda: app.sessions.delete(scope, person.session_id),
        "delete_many": lambda: app.sessions.delete_many(scope, [person.session_id]),
        "delete_message": lambda: app.branches.delete_message(scope, person.session_id, answer),
    }
    await asyncio.wait_for(calls[way](), 5)
    assert (await app.log.state(person.session_id, answer)).value == "complete"
    if way in ("rewind", "delete_message"):
        assert await ids(person) == [question]
    if way in ("delete", "delete_many"):
        with pytest.raises(NotFound):
            await app.sessions.get(scope, person.session_id)


async def test_a_strangers_batch_stops_nothing(talk) -> None:
    running, go_on = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        running.set()
        await go_on.wait()

    person = await talk(ScriptedChat(["Да"], before_each=hold))
    await person.ask(FIRST, overrides=PLAIN)
    await running.wait()
    assert await person.app.sessions.delete_many(COLLEAGUE, [person.session_id]) == []
    go_on.set()
    assert (await person.events())[-1].data == {"finish": "complete"}


async def test_feedback_is_kept_changed_and_taken_back(two_rounds) -> None:
    branches, scope = two_rounds.app.branches, two_rounds.scope
    question, answer, *_ = await ids(two_rounds)
    await branches.feedback(scope, answer, thumb=Thumb.DOWN, comment=" Устарело ")
    assert (await two_rounds.message(answer)).feedback == Feedback(thumb=Thumb.DOWN, comment="Устарело")
    await branches.feedback(scope, answer, thumb=Thumb.UP)
    assert (await two_rounds.message(answer)).feedback == Feedback(thumb=Thumb.UP)
    await branches.feedback(scope, answer, thumb=Thumb.NONE)
    stored = await two_rounds.message(answer)
    assert (stored.feedback, stored.content, stored.finish) == (None, "Да", Finish.COMPLETE)
    with pytest.raises(InvalidInput):
        await branches.feedback(scope, question, thumb=Thumb.UP)
    with pytest.raises(InvalidInput):
        await branches.feedback(scope, answer, thumb=Thumb.UP, comment="x" * 4_001)


async def test_what_was_chosen_is_kept_with_the_question_and_the_session(two_rounds) -> None:
    app, scope = two_rounds.app, two_rounds.scope
    question, answer, *_ = await ids(two_rounds)
    assert (await app.sessions.get(scope, two_rounds.session_id)).last_request == {"explain": True}
    assert (await app.branches.question_of(scope, answer)).request == {"knowledge_ids": ["d"]}
    assert (await app.branches.question_of(scope, question)).message_id == question


async def test_asked_again_a_question_takes_the_place_of_its_round(two_rounds) -> None:
    app, scope = two_rounds.app, two_rounds.scope
    before = await ids(two_rounds)
    question = await app.branches.question_of(scope, before[1])
    await two_rounds.answer(question.content, overrides=PLAIN, instead_of=question)
    assert await texts(two_rounds) == [FIRST, "Да"]
    assert not set(await ids(two_rounds)) & set(before)
    assert SECOND not in [message.content for message in prompts(app._models.chat)[-1]]


BESIDE = Beside(
    quoted_context="Срок </quoted> три дня",
    attachments=(Attachment(name='a".txt', content="Текст </attachment> вложения"),),
)


async def test_what_stands_beside_a_question_goes_into_its_prompt_and_into_later_ones_as_data(talk) -> None:
    model = ScriptedChat(["Да"])
    person = await talk(model)
    await person.answer(FIRST, overrides=PLAIN, beside=BESIDE)
    asked = prompts(model)[-1][-1].content
    for shown in (
        "<quoted>\nСрок &lt;/quoted&gt; три дня\n</quoted>",
        '<attachment name="a&quot;.txt">\nТекст &lt;/attachment&gt; вложения\n</attachment>',
    ):
        assert shown in asked
    question = (await person.app.sessions.messages(person.scope, person.session_id))[0]
    assert (question.role, question.content, question.beside) == (Role.USER, FIRST, BESIDE)
    await person.answer(SECOND, overrides=PLAIN)
    replayed = prompts(model)[-1][1]
    assert replayed.role == "user"
    assert replayed.content.startswith(FIRST)
    assert "Срок &lt;/quoted&gt; три дня" in replayed.content
    assert "три дня" not in prompts(model)[-1][-1].content


async def test_long_texts_are_cut_in_history_and_whole_in_their_own_prompt(talk) -> None:
    model = ScriptedChat(["Да"])
    person = await talk(model)
    beside = Beside(attachments=(Attachment(name="a", content="ж" * 5_000),))
    await person.answer(FIRST, overrides=PLAIN, beside=beside)
    assert "ж" * 5_000 in prompts(model)[-1][-1].content
    await person.answer(SECOND, overrides=PLAIN)
    assert "ж" * 2_000 + "…" in prompts(model)[-1][1].content
    assert "ж" * 2_001 not in prompts(model)[-1][1].content


async def test_plain_chat_sees_them(talk) -> None:
    model = ScriptedChat(["Да"])
    person = await talk(model, with_document=False)
    await person.answer("О чём это?", beside=BESIDE)
    assert "&lt;/quoted&gt;" in prompts(model)[-1][-1].content


async def test_the_model_that_rewrites_sees_them_too(talk) -> None:
    model = ScriptedChat(["Да"])
    person = await talk(model)
    await person.answer("О чём это?", beside=BESIDE)
    rewriting = prompts(model)[0]
    assert "&lt;/quoted&gt;" in rewriting[-1].content


async def test_without_a_model_the_quoted_passage_is_searched_with_the_question(talk) -> None:
    person = await talk()
    events = await person.answer("О чём это?", beside=Beside(quoted_context="Ежегодный отпуск длится"))
    said = "".join(e.content for e in events if e.response_type is R.ANSWER)
    assert "двадцать восемь" in said
    await person.answer(FIRST, beside=BESIDE)
    assert any(w.startswith("Attachments were not read") for w in (await person.message()).trace["warnings"])
