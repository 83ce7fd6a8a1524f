"""Sessions and messages: one's own only, in order, and those that never ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from opora.domain.conversation import CitationCheck, Finish, Message, Role, Session, Span, Support
from opora.domain.errors import Forbidden, NotFound
from opora.domain.knowledge import Box, Place
from opora.domain.scope import Scope
from opora.domain.search import SearchResult
from opora.ports import Page
from opora.store.database import SqlDatabase

NOW = datetime(2026, 1, 2, tzinfo=UTC)
SESSION = Session(session_id="s-1", tenant_id="default", user_id="local", title="Т", created_at=NOW, updated_at=NOW)


def message(number: int, **values: object) -> Message:
    moment = NOW + timedelta(seconds=number)
    given = {
        "session_id": "s-1",
        "tenant_id": "default",
        "request_id": f"r-{number}",
        "role": Role.ASSISTANT,
        "content": f"текст {number}",
        "created_at": moment,
        "updated_at": moment,
    }
    return Message(message_id=f"m-{number}", **(given | values))  # type: ignore[arg-type]


@pytest.fixture
async def filled(database: SqlDatabase, scope_of: Callable[..., Scope]) -> SqlDatabase:
    async with database.begin() as stored:
        await stored.sessions.add(scope_of(), SESSION)
        for number in range(5):
            await stored.messages.add(scope_of(), message(number, is_completed=number != 3))
    return database


async def test_messages_come_back_oldest_first(filled: SqlDatabase, scope_of: Callable[..., Scope]) -> None:
    async with filled.read() as stored:
        recent = await stored.messages.recent(scope_of(), "s-1", limit=2)
        assert [item.message_id for item in recent] == ["m-3", "m-4"]
        before = await stored.messages.recent(scope_of(), "s-1", limit=9, before=NOW + timedelta(seconds=2))
        assert [item.message_id for item in before] == ["m-0", "m-1"]


async def test_an_answer_keeps_what_came_of_its_citations(filled: SqlDatabase, scope_of: Callable[..., Scope]) -> None:
    place = Place(start=5, end=9, page=2, boxes=(Box(page=2, x0=1, y0=2, x1=3, y1=4),))
    checked = CitationCheck(
        number=1, kind="kb", start=3, end=9, support=Support.PARTLY, share=0.5, best=Span(start=0, end=4), place=place
    )
    async with filled.begin() as stored:
        await stored.messages.update(scope_of(), message(3, citations=(checked,)))
        assert (await stored.messages.get(scope_of(), "m-3")).citations == (checked,)
        assert (await stored.messages.get(scope_of(), "m-2")).citations == ()


async def test_an_answer_keeps_its_references_and_trace(filled: SqlDatabase, scope_of: Callable[..., Scope]) -> None:
    result = SearchResult(chunk_id="c", base_id="kb", tenant_id="default", document_id="d", content="т", score=0.5)
    whole = replace(
        message(3), references=(result,), is_completed=True, finish=Finish.TRUNCATED, trace={"a": [1]}, content="да"
    )
    async with filled.begin() as stored:
        await stored.messages.update(scope_of(), whole)
        assert await stored.messages.get(scope_of(), "m-3") == whole


async def test_unfinished_answers_are_flagged(filled: SqlDatabase, scope_of: Callable[..., Scope]) -> None:
    async with filled.begin() as stored:
        assert [item.message_id for item in await stored.messages.unfinished()] == ["m-3"]
        await stored.messages.interrupt("m-3", NOW)
        await stored.messages.interrupt("m-4", NOW)
        assert (await stored.messages.get(scope_of(), "m-3")).finish is Finish.INTERRUPTED
        assert (await stored.messages.get(scope_of(), "m-4")).finish is None
        assert await stored.messages.unfinished() == []


@pytest.mark.parametrize("who", [{"tenant_id": "other"}, {"user_id": "somebody"}])
async def test_another_users_talk_is_not_there(
    filled: SqlDatabase, scope_of: Callable[..., Scope], who: dict[str, str]
) -> None:
    stranger = scope_of(**who)
    async with filled.begin() as stored:
        assert (await stored.sessions.browse(stranger, Page())).total == 0
        assert await stored.messages.recent(stranger, "s-1", limit=9) == []
        for attempt in (
            stored.sessions.get(stranger, "s-1"),
            stored.sessions.update(stranger, SESSION),
            stored.sessions.delete(stranger, "s-1"),
            stored.messages.get(stranger, "m-1"),
            stored.messages.update(stranger, message(1)),
            stored.messages.add(stranger, message(9)),
        ):
            with pytest.raises(NotFound):
                await attempt
        with pytest.raises(Forbidden):
            await stored.sessions.add(stranger, replace(SESSION, session_id="s-2"))


async def test_sessions_are_listed_pinned_first_and_go_with_their_messages(
    filled: SqlDatabase, scope_of: Callable[..., Scope]
) -> None:
    async with filled.begin() as stored:
        for number in (2, 3):
            later = replace(SESSION, session_id=f"s-{number}", updated_at=NOW + timedelta(seconds=number))
            await stored.sessions.add(scope_of(), later)
        await stored.sessions.update(scope_of(), replace(SESSION, is_pinned=True, title="закреплено"))
        listed = await stored.sessions.browse(scope_of(), Page())
        assert [item.session_id for item in listed.items] == ["s-1", "s-3", "s-2"]
        assert listed.items[0].title == "закреплено"
        await stored.sessions.delete(scope_of(), "s-1")
        with pytest.raises(NotFound):
            await stored.messages.get(scope_of(), "m-1")
