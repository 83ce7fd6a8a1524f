"""Stopping, leaving and coming back: the run is bound to nobody who reads it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from opora.domain.conversation import Finish
from opora.domain.errors import Busy, NotFound
from opora.domain.scope import Principal
from opora.domain.stream import ResponseType as R
from opora.models.scripted import ScriptedChat

QUESTION = "Когда возмещают расходы на проезд?"
NO_REWRITE = {"enable_rewrite": False}


class Gate:
    """Lets a scripted model say a number of pieces and then holds it."""

    def __init__(self, free: int) -> None:
        self.free = free
        self.held = asyncio.Event()
        self.opened = asyncio.Event()

    async def __call__(self) -> None:
        if self.free > 0:
            self.free -= 1
            return
        self.held.set()
        await self.opened.wait()


async def stopped_at(talk, pieces: list[str], free: int):
    gate = Gate(free)
    person = await talk(ScriptedChat(pieces, before_each=gate))
    await person.ask(QUESTION, overrides=NO_REWRITE)
    await gate.held.wait()
    assert await person.app.chat.stop(person.scope, person.session_id, person.last)
    return person


async def test_what_was_written_before_the_stop_stays_and_nothing_else(talk) -> None:
    person = await stopped_at(talk, ["Итого", ": 12", " рублей"], 2)
    events = await person.events()
    assert [e.response_type for e in events][-2:] == [R.STOP, R.COMPLETE]
    assert events[-1].data["finish"] == "stopped"
    assert R.REFERENCES in {e.response_type for e in events}
    stored = await person.message()
    assert (stored.content, stored.finish, stored.is_completed) == ("Итого: 12", Finish.STOPPED, True)
    assert stored.references


async def test_half_a_mark_is_never_saved(talk) -> None:
    person = await stopped_at(talk, ["Итого", '<ref id="c', '1"/>'], 2)
    assert (await person.message()).content == "Итого"


async def test_a_stop_before_retrieval_writes_no_fallback_and_closes_the_window(talk, monkeypatch) -> None:
    person = await talk()
    held = asyncio.Event()

    async def never(*args, **kwargs):
        held.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(person.app.search, "search", never)
    await person.ask(QUESTION)
    await held.wait()
    assert await person.app.chat.stop(person.scope, person.session_id, person.last)
    events = await person.events()
    stored = await person.message()
    assert (stored.content, stored.finish) == ("", Finish.STOPPED)
    calls = [e.response_type for e in events if e.response_type in (R.TOOL_CALL, R.TOOL_RESULT)]
    assert calls.count(R.TOOL_CALL) == calls.count(R.TOOL_RESULT)


async def test_a_stop_right_after_the_question_is_taken(talk) -> None:
    person = await talk()
    await person.ask(QUESTION)
    await person.app.chat.stop(person.scope, person.session_id, person.last)
    events = await person.events()
    assert [e.response_type for e in events].count(R.COMPLETE) == 1
    assert (await person.message()).is_completed


async def test_a_second_stop_and_a_stop_after_the_end_change_nothing(talk) -> None:
    person = await stopped_at(talk, ["Да", "нет"], 1)
    before = await person.message()
    assert not await person.app.chat.stop(person.scope, person.session_id, person.last)
    assert await person.message() == before


async def test_somebody_else_can_neither_stop_nor_read(talk) -> None:
    gate = Gate(1)
    person = await talk(ScriptedChat(["Да", "нет"], before_each=gate))
    await person.ask(QUESTION, overrides=NO_REWRITE)
    await gate.held.wait()
    other = replace(person.scope, principal=Principal(tenant_id="other", user_id="local"))
    neighbour = replace(person.scope, principal=Principal(tenant_id="default", user_id="somebody"))
    for stranger in (other, neighbour):
        with pytest.raises(NotFound):
            await person.app.chat.stop(stranger, person.session_id, person.last)
        with pytest.raises(NotFound):
            async for _ in person.app.chat.follow(stranger, person.session_id, person.last):
                pass
    elsewhere = await person.app.sessions.create(person.scope)
    with pytest.raises(NotFound):
        async for _ in person.app.chat.follow(person.scope, elsewhere.session_id, person.last):
            pass
    gate.opened.set()
    assert (await person.events())[-1].data["finish"] == "complete"


async def test_a_message_of_another_session_is_not_found(talk) -> None:
    person = await talk()
    await person.answer(QUESTION)
    other = await person.app.sessions.create(person.scope)
    with pytest.raises(NotFound):
        async for _ in person.app.chat.follow(person.scope, other.session_id, person.last):
            pass


async def test_readers_that_leave_join_late_or_come_after_the_end_read_the_same(talk) -> None:
    gate = Gate(10)
    pieces = [f"с{n} " for n in range(40)]
    person = await talk(ScriptedChat(pieces, before_each=gate))
    message_id = await person.ask(QUESTION, overrides=NO_REWRITE)
    seen = 0
    reading = person.app.chat.follow(person.scope, person.session_id, message_id)
    async for _, event in reading:
        seen += event.response_type is R.ANSWER
        if seen == 10:
            break
    await reading.aclose()
    late = asyncio.create_task(person.events())
    gate.opened.set()
    first = await late
    after = await person.events()
    stored = (await person.message()).content
    assert "".join(e.content for e in first if e.response_type is R.ANSWER) == "".join(pieces) == stored
    assert after == first
    assert [e.response_type for e in first].count(R.COMPLETE) == 1


async def test_an_answer_whose_log_is_gone_is_replayed_from_the_stored_message(talk) -> None:
    person = await talk(ScriptedChat(["Да"]))
    before = await person.answer(QUESTION)
    message_id, session_id = person.last, person.session_id
    await person.app.close()
    again = await talk()
    again.session_id = session_id
    events = await again.events(message_id)
    assert [e.response_type for e in events] == [R.AGENT_QUERY, R.REFERENCES, R.ANSWER, R.ANSWER, R.COMPLETE]
    assert [r.chunk_id for r in events[1].references] == [
        r.chunk_id for e in before if e.response_type is R.REFERENCES for r in e.references
    ]
    assert events[-1].data == {"finish": "complete"}


async def test_an_answer_cut_by_the_end_of_the_process_is_flagged(talk) -> None:
    gate = Gate(1)
    person = await talk(ScriptedChat(["Да", "нет"], before_each=gate))
    await person.ask(QUESTION, overrides=NO_REWRITE)
    await gate.held.wait()
    await person.app.close()
    again = await talk()
    again.session_id = person.session_id
    stored = await again.message(person.last)
    assert (stored.content, stored.finish, stored.is_completed) == ("Да", Finish.INTERRUPTED, True)


async def test_nothing_is_left_running_after_the_end(talk) -> None:
    person = await talk()
    await person.answer(QUESTION)
    before = len(asyncio.all_tasks())
    for _ in range(3):
        await person.answer(QUESTION)
    assert len(asyncio.all_tasks()) == before


async def test_the_next_question_sees_the_stopped_text_once(talk) -> None:
    gate = Gate(1)
    model = ScriptedChat(["Итого: 12", " рублей"], before_each=gate)
    person = await talk(model)
    await person.ask(QUESTION, overrides=NO_REWRITE)
    await gate.held.wait()
    await person.app.chat.stop(person.scope, person.session_id, person.last)
    gate.opened.set()
    await person.answer("Какие ещё расходы на проезд?", overrides=NO_REWRITE)
    assert [m.content for m in model.asked[-1]].count("Итого: 12") == 1


async def test_a_stop_while_the_answer_is_being_stored_does_not_cut_that_short(talk, monkeypatch) -> None:
    person = await talk(ScriptedChat(["Да"]))
    storing, go_on = asyncio.Event(), asyncio.Event()
    store = person.app.chat._rounds.store

    async def slowly(*args, **kwargs):
        storing.set()
        await go_on.wait()
        await store(*args, **kwargs)

    monkeypatch.setattr(person.app.chat._rounds, "store", slowly)
    await person.ask(QUESTION, overrides=NO_REWRITE)
    await storing.wait()
    stopping = asyncio.create_task(person.app.chat.stop(person.scope, person.session_id, person.last))
    await asyncio.sleep(0)
    go_on.set()
    assert await stopping is False
    assert (await person.message()).finish is Finish.COMPLETE
    assert (await person.events())[-1].data["finish"] == "complete"


async def test_a_question_that_the_log_has_no_room_for_is_stored_as_failed(talk, monkeypatch) -> None:
    person = await talk()

    async def full(*args, **kwargs):
        raise Busy("full")

    monkeypatch.setattr(person.app.log, "append", full)
    with pytest.raises(Busy):
        await person.ask(QUESTION)
    _, answer = await person.app.sessions.messages(person.scope, person.session_id)
    assert (answer.is_completed, answer.finish) == (True, Finish.ERROR)


async def test_a_run_ends_by_itself_and_keeps_what_was_written(talk) -> None:
    gate = Gate(1)
    person = await talk(ScriptedChat(["Да", "нет"], before_each=gate))
    person.app.chat._answering._seconds = 0.2
    await person.ask(QUESTION, overrides=NO_REWRITE)
    events = await person.events()
    assert [e.response_type for e in events][-2:] == [R.ERROR, R.COMPLETE]
    assert "too long" in events[-2].content
    stored = await person.message()
    assert (stored.content, stored.finish) == ("Да", Finish.ERROR)
    assert person.app.settings.answer_seconds == 2 * 60 * 60
