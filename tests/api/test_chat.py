"""An answer is followed over a real connection: left, taken up again, stopped, and found again when all is over."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from opora.bootstrap import App
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.domain.stream import TERMINAL

from .conftest import COLLEAGUE, QUESTION, GatedChat, add_text, client_of, scope_of

PIECES = [f"с{number:02} " for number in range(40)]
Event = dict[str, Any]


class Reader:
    """Reads the frames of one open stream."""

    def __init__(self, response: httpx2.Response) -> None:
        self.response = response
        self.events: list[Event] = []
        self.offsets: list[int] = []
        self._lines = response.aiter_lines()

    async def __aiter__(self) -> AsyncIterator[Event]:
        async for line in self._lines:
            if line.startswith("id: "):
                self.offsets.append(int(line[4:]))
            if line.startswith("data: "):
                self.events.append(json.loads(line[6:]))
                yield self.events[-1]

    async def until(self, text: str) -> None:
        """Read on until the answer so far ends with ``text``."""
        if self.text.endswith(text):
            return
        async for _ in self:
            if self.text.endswith(text):
                return
        raise AssertionError(f"the stream ended before {text!r}")

    async def rest(self) -> list[Event]:
        async for _ in self:
            pass
        return self.events

    @property
    def text(self) -> str:
        return "".join(event["content"] for event in self.events if event["response_type"] == "answer")

    @property
    def kinds(self) -> list[str]:
        kinds: list[str] = []
        for event in self.events:
            if not kinds or kinds[-1] != event["response_type"]:
                kinds.append(event["response_type"])
        return kinds


@asynccontextmanager
async def asking(http: httpx2.AsyncClient, session_id: str, query: str = QUESTION) -> AsyncIterator[Reader]:
    # The model in the test's hands writes answers only.
    body = {"query": query, "settings": {"enable_rewrite": False}}
    async with http.stream("POST", f"/api/v1/knowledge-chat/{session_id}", json=body) as response:
        assert response.status_code == 200, await response.aread()
        yield Reader(response)


@asynccontextmanager
async def continuing(
    http: httpx2.AsyncClient, session_id: str, message_id: str, last: int | None = None
) -> AsyncIterator[Reader]:
    headers = {} if last is None else {"Last-Event-ID": str(last)}
    path = f"/api/v1/sessions/continue-stream/{session_id}"
    async with http.stream("GET", path, params={"message_id": message_id}, headers=headers) as response:
        assert response.status_code == 200, await response.aread()
        yield Reader(response)


@pytest.fixture
async def session_id(written: App) -> str:
    await add_text(written, LOCAL_PRINCIPAL)
    return (await written.sessions.create(scope_of(LOCAL_PRINCIPAL), title="Разговор")).session_id


async def finished(app: App, session_id: str, message_id: str) -> None:
    async for _, event in app.chat.follow(scope_of(LOCAL_PRINCIPAL), session_id, message_id):
        if event.response_type is TERMINAL:
            return


async def stop(http: httpx2.AsyncClient, session_id: str, message_id: str) -> httpx2.Response:
    return await http.post(f"/api/v1/sessions/{session_id}/stop", json={"message_id": message_id})


async def stored(http: httpx2.AsyncClient, session_id: str, message_id: str) -> Event:
    messages = (await http.get(f"/api/v1/messages/{session_id}/load")).json()["data"]
    (message,) = [message for message in messages if message["id"] == message_id]
    assert isinstance(message, dict)
    return message


async def test_readers_that_leave_come_back_and_come_late_get_the_same_answer(
    written: App, served: httpx2.AsyncClient, session_id: str, chat_model: GatedChat
) -> None:
    for piece in PIECES[:10]:
        chat_model.words.put_nowait(piece)
    async with asking(served, session_id) as first:
        await first.until(PIECES[9])
        message_id = first.events[0]["assistant_message_id"]
    assert first.events[0]["response_type"] == "agent_query"
    assert first.events[0]["session_id"] == session_id
    async with continuing(served, session_id, message_id) as second:
        await second.until(PIECES[9])
        for piece in PIECES[10:30]:
            chat_model.words.put_nowait(piece)
        await second.until(PIECES[29])
        async with (
            continuing(served, session_id, message_id) as third,
            continuing(served, session_id, message_id, last=first.offsets[-1]) as resumed,
        ):
            for piece in [*PIECES[30:], None]:
                chat_model.words.put_nowait(piece)
            await second.rest()
            await third.rest()
            await resumed.rest()
    async with continuing(served, session_id, message_id) as fourth:
        await asyncio.wait_for(fourth.rest(), 10)
    whole = "".join(PIECES)
    for reader in (second, third, fourth):
        assert reader.text == whole
        assert reader.kinds[0] == "agent_query"
        assert reader.kinds.index("references") < reader.kinds.index("answer")
        assert [event["response_type"] for event in reader.events].count("complete") == 1
        assert reader.events[-1]["response_type"] == "complete"
        assert reader.events[-1]["data"]["finish"] == "complete"
        assert reader.offsets == sorted(set(reader.offsets))
        assert {event["id"] for event in reader.events} == {first.events[0]["id"]}
    assert first.text + resumed.text == whole
    assert not set(first.offsets) & set(resumed.offsets)
    assert len(fourth.events) < 20, "a replay is joined"
    message = await stored(served, session_id, message_id)
    assert (message["content"], message["finish"], message["is_completed"]) == (whole, "complete", True)


async def test_with_no_reader_left_nothing_stays(
    written: App, served: httpx2.AsyncClient, session_id: str, chat_model: GatedChat
) -> None:
    chat_model.words.put_nowait("слово ")
    before = asyncio.all_tasks()
    async with asking(served, session_id) as reader:
        await reader.until("слово ")
        during = asyncio.all_tasks() - before
    message_id = reader.events[0]["assistant_message_id"]
    chat_model.words.put_nowait(None)
    await asyncio.wait_for(finished(written, session_id, message_id), 10)
    _, pending = await asyncio.wait(during, timeout=10)
    assert during
    assert not pending
    assert asyncio.all_tasks() <= before
    assert (await stored(served, session_id, message_id))["content"] == "слово "


async def test_stopping_in_the_middle_keeps_what_was_written(
    served: httpx2.AsyncClient, session_id: str, chat_model: GatedChat
) -> None:
    chat_model.words.put_nowait('Итого: 12<ref id="c')
    async with asking(served, session_id) as reader:
        await reader.until("Итого: 12")
        message_id = reader.events[0]["assistant_message_id"]
        once, twice = await asyncio.gather(stop(served, session_id, message_id), stop(served, session_id, message_id))
        assert (once.status_code, twice.status_code) == (200, 200)
        assert True in (once.json()["data"]["stopped"], twice.json()["data"]["stopped"])
        await asyncio.wait_for(chat_model.cancelled.wait(), 1)
        await reader.rest()
    assert reader.text == "Итого: 12"
    assert reader.kinds[-2:] == ["stop", "complete"]
    assert reader.events[-1]["data"]["finish"] == "stopped"
    assert [event["response_type"] for event in reader.events].count("complete") == 1
    message = await stored(served, session_id, message_id)
    assert (message["content"], message["finish"]) == ("Итого: 12", "stopped")
    assert message["knowledge_references"]
    async with continuing(served, session_id, message_id) as again:
        await asyncio.wait_for(again.rest(), 10)
    assert again.text == "Итого: 12"
    after = await stop(served, session_id, message_id)
    assert after.json() == {"success": True, "data": {"stopped": False}}
    for word in ("Дальше.", None):
        chat_model.words.put_nowait(word)
    async with asking(served, session_id) as following:
        await following.rest()
    assert following.text == "Дальше."


async def test_stopping_works_when_the_reader_is_gone(
    written: App, served: httpx2.AsyncClient, session_id: str, chat_model: GatedChat
) -> None:
    chat_model.words.put_nowait("Начало")
    async with asking(served, session_id) as reader:
        await reader.until("Начало")
    message_id = reader.events[0]["assistant_message_id"]
    assert (await stop(served, session_id, message_id)).json()["data"]["stopped"] is True
    await asyncio.wait_for(chat_model.cancelled.wait(), 1)
    assert (await stored(served, session_id, message_id))["finish"] == "stopped"


async def test_others_can_neither_stop_nor_read(
    written: App, served: httpx2.AsyncClient, session_id: str, chat_model: GatedChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat_model.words.put_nowait("Тайна")
    async with asking(served, session_id) as reader:
        await reader.until("Тайна")
        message_id = reader.events[0]["assistant_message_id"]
        with monkeypatch.context() as patched:
            patched.setattr(written.access, "authenticate", lambda key: COLLEAGUE)
            assert (await stop(served, session_id, message_id)).status_code == 404
            path = f"/api/v1/sessions/continue-stream/{session_id}"
            response = await served.get(path, params={"message_id": message_id})
            assert response.status_code == 404
            assert "Тайна" not in response.text
        for word in (" цела", None):
            chat_model.words.put_nowait(word)
        await reader.rest()
    assert reader.text == "Тайна цела"


async def test_after_a_restart_the_stored_answer_is_replayed(written: App, chat_model: GatedChat) -> None:
    """A new process has an empty log; so has one whose log of this answer is too old."""
    await add_text(written, LOCAL_PRINCIPAL)
    session = await written.sessions.create(scope_of(LOCAL_PRINCIPAL), title="Разговор")
    for word in ("Готово.", None):
        chat_model.words.put_nowait(word)
    async with client_of(written) as http:
        async with asking(http, session.session_id) as reader:
            await reader.rest()
        message_id = reader.events[0]["assistant_message_id"]
        await written.log.close()
        async with continuing(http, session.session_id, message_id) as again:
            await asyncio.wait_for(again.rest(), 2)
        assert again.text == "Готово."
        assert again.kinds == ["agent_query", "references", "answer", "complete"]
        async with continuing(http, session.session_id, message_id, last=reader.offsets[-1]) as resumed:
            assert [event["response_type"] for event in await resumed.rest()] == ["complete"]


async def test_headers_of_an_answer(served: httpx2.AsyncClient, session_id: str, chat_model: GatedChat) -> None:
    for word in ("Да.", None):
        chat_model.words.put_nowait(word)
    async with asking(served, session_id) as reader:
        headers = reader.response.headers
        await reader.rest()
    assert headers["content-type"].startswith("text/event-stream")
    assert headers["cache-control"] == "no-cache"
    assert headers["x-accel-buffering"] == "no"
    assert headers["x-session-id"] == session_id
    assert headers["x-message-id"] == reader.events[0]["assistant_message_id"]
    assert headers["x-content-type-options"] == "nosniff"


async def test_a_question_without_a_chat_model_is_answered_by_checked_quotes(app: App) -> None:
    await add_text(app, LOCAL_PRINCIPAL)
    session = await app.sessions.create(scope_of(LOCAL_PRINCIPAL))
    async with client_of(app) as http:
        async with asking(http, session.session_id) as reader:
            await reader.rest()
        answers = [event for event in reader.events if event["response_type"] == "answer" and event["content"]]
        assert answers
        assert all(event["data"]["extractive"] is True for event in answers)
        message_id = reader.events[0]["assistant_message_id"]
        citations = (await http.get(f"/api/v1/messages/{message_id}/citations")).json()["data"]
        assert citations
        for citation in citations:
            quote = citation["quote"]
            assert citation["content"][quote["start"] : quote["end"]] in citation["statement"]
            assert citation["support"] == "supported"
        told = [{k: v for k, v in one.items() if k not in ("content", "place")} for one in citations]
        (event,) = [event for event in reader.events if event["response_type"] == "citations_checked"]
        assert event["data"]["citations"] == told
        trace = (await http.get(f"/api/v1/messages/{message_id}/trace")).json()["data"]
        assert trace["candidates"]
        assert trace["settings"]["rrf_k"] == {"value": 60, "origin": "default"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "query"),
        ({"query": "  "}, "query"),
        ({"query": "ж" * 10_001}, "query"),
        ({"query": "a", "images": ["x"]}, "images"),
        ({"query": "a", "settings": {"no_such_setting": 1}}, "no_such_setting"),
        ({"query": "a", "settings": {"rerank_top_k": 0}}, "rerank_top_k"),
        ({"query": "a", "settings": {"vector_threshold": 7}}, "settings.vector_threshold"),
    ],
)
async def test_questions_that_are_refused(app: App, http: httpx2.AsyncClient, body: dict[str, Any], field: str) -> None:
    session = await app.sessions.create(scope_of(LOCAL_PRINCIPAL))
    response = await http.post(f"/api/v1/knowledge-chat/{session.session_id}", json=body)
    assert response.status_code == 422
    assert response.json()["error"]["details"]["field"] == field
    assert (await http.get(f"/api/v1/messages/{session.session_id}/load")).json()["data"] == []


async def test_fields_of_richer_clients_are_taken_and_left(app: App) -> None:
    session = await app.sessions.create(scope_of(LOCAL_PRINCIPAL))
    body = {"query": "a", "agent_enabled": False, "agent_id": "", "mentioned_items": [], "disable_title": True,
            "images": [], "quoted_context": "", "knowledge_base_ids": []}  # fmt: skip
    async with client_of(app) as http:
        response = await http.post(f"/api/v1/knowledge-chat/{session.session_id}", json=body)
    assert response.status_code == 200
    assert response.text.rstrip().rsplit("\n", 1)[-1].count('"complete"') >= 1


async def test_sessions_and_history(app: App, http: httpx2.AsyncClient) -> None:
    session = (await http.post("/api/v1/sessions", json={"title": "Первая"})).json()["data"]
    assert (await http.post("/api/v1/sessions")).status_code == 201
    path = f"/api/v1/sessions/{session['id']}"
    assert (await http.get(path)).json()["data"] == session
    assert (await http.get("/api/v1/sessions")).json()["total"] == 2
    assert (await http.put(path, json={"title": "Вторая"})).json()["data"]["title"] == "Вторая"
    assert (await http.post(f"{path}/pin")).json()["data"]["is_pinned"] is True
    assert (await http.delete(f"{path}/pin")).json()["data"]["is_pinned"] is False
    for number in range(3):
        await http.post(f"/api/v1/knowledge-chat/{session['id']}", json={"query": f"вопрос {number}"})
    load = f"/api/v1/messages/{session['id']}/load"
    everything = (await http.get(load)).json()["data"]
    assert [message["content"] for message in everything if message["role"] == "user"] == [
        "вопрос 0",
        "вопрос 1",
        "вопрос 2",
    ]
    assert (await http.get(load, params={"limit": 2})).json()["data"] == everything[-2:]
    before = (await http.get(load, params={"before_time": everything[2]["created_at"]})).json()["data"]
    assert before == everything[:2]
    for params in ({"limit": 0}, {"limit": 101}, {"before_time": "yesterday"}):
        assert (await http.get(load, params=params)).status_code == 422
    assert (await http.delete(path)).json() == {"success": True, "data": {"id": session["id"]}}
    assert (await http.get(path)).status_code == 404
    assert (await http.get(load)).status_code == 404


async def test_titles_over_http(written: App, served: httpx2.AsyncClient, chat_model: GatedChat) -> None:
    await add_text(written, LOCAL_PRINCIPAL)
    session = (await served.post("/api/v1/sessions")).json()["data"]
    path = f"/api/v1/sessions/{session['id']}"
    assert (await served.post(f"{path}/generate_title")).status_code == 422
    for word in ("Да.", None):
        chat_model.words.put_nowait(word)
    response = await served.post(
        f"/api/v1/knowledge-chat/{session['id']}",
        json={"query": QUESTION, "disable_title": True, "settings": {"enable_rewrite": False}},
    )
    assert "session_title" not in response.text
    assert response.text.startswith("retry: 1000\n\nid: 0\n")
    assert (await served.get(path)).json()["data"]["title"] == ""
    for said in (None, {"messages": [{"role": "system", "content": "x"}, {"role": "user", "content": "Отпуск?"}]}):
        for word in ("«Про проезд».", None):
            chat_model.words.put_nowait(word)
        response = await served.post(f"{path}/generate_title", json=said)
        assert response.json() == {"success": True, "data": "Про проезд"}
    assert (await served.get(path)).json()["data"]["title"] == "Про проезд"


@pytest.mark.parametrize("title", ["Первая\nвторая", " Первая \r\n\tвторая\u2028", "Первая\u202e \x07вторая"])
async def test_a_title_is_one_line(app: App, http: httpx2.AsyncClient, title: str) -> None:
    made = (await http.post("/api/v1/sessions", json={"title": title})).json()["data"]
    assert made["title"] == "Первая вторая"
    path = f"/api/v1/sessions/{made['id']}"
    assert (await http.put(path, json={"title": title})).json()["data"]["title"] == "Первая вторая"
    fork = await http.post(f"{path}/fork", json={"title": title})
    assert fork.json()["data"]["title"] == "Первая вторая"
