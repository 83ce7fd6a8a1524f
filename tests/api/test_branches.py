"""Fork, rewind, batch delete, feedback, export and asking again, over HTTP."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from opora.bootstrap import App
from opora.domain.scope import LOCAL_PRINCIPAL

from .conftest import PASSAGE, QUESTION, add_text

BESIDE = {"quoted_context": "Цитата", "attachments": [{"name": "a.txt", "content": "Текст"}]}


async def ask(http: httpx2.AsyncClient, path: str, **body: Any) -> list[dict[str, Any]]:
    response = await http.post(path, json=body)
    assert response.status_code == 200, response.text
    return [json.loads(line[5:]) for line in response.text.splitlines() if line.startswith("data:")]


@pytest.fixture
async def session_id(app: App, http: httpx2.AsyncClient) -> str:
    await add_text(app, LOCAL_PRINCIPAL)
    session_id: str = (await http.post("/api/v1/sessions")).json()["data"]["id"]
    await ask(http, f"/api/v1/knowledge-chat/{session_id}", query=QUESTION, settings={"rerank_top_k": 3}, **BESIDE)
    await ask(http, f"/api/v1/knowledge-chat/{session_id}", query=QUESTION)
    return session_id


async def loaded(http: httpx2.AsyncClient, session_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await http.get(f"/api/v1/messages/{session_id}/load")).json()["data"]
    return found


async def test_what_stood_beside_a_question_and_what_was_chosen(http: httpx2.AsyncClient, session_id: str) -> None:
    question, answer, *_ = await loaded(http, session_id)
    assert {name: question[name] for name in BESIDE} == BESIDE
    assert (answer["quoted_context"], answer["attachments"], answer["feedback"]) == ("", [], None)
    session = (await http.get(f"/api/v1/sessions/{session_id}")).json()["data"]
    assert session["last_request_state"] == {}
    await ask(http, f"/api/v1/knowledge-chat/{session_id}", query=QUESTION, explain=True, settings={"rrf_k": 9})
    session = (await http.get(f"/api/v1/sessions/{session_id}")).json()["data"]
    assert session["last_request_state"]["explain"] is True
    assert session["last_request_state"]["settings"]["rrf_k"] == 9


async def test_fork_and_rewind(http: httpx2.AsyncClient, session_id: str) -> None:
    messages = await loaded(http, session_id)
    body = {"message_id": messages[1]["id"], "title": "Ветка"}
    forked = await http.post(f"/api/v1/sessions/{session_id}/fork", json=body)
    assert forked.status_code == 201
    fork = forked.json()["data"]
    assert (fork["title"], fork["parent_session_id"]) == ("Ветка", session_id)
    assert fork["forked_from_message_id"] == messages[1]["id"]
    copied = await loaded(http, fork["id"])
    assert [one["content"] for one in copied] == [one["content"] for one in messages[:2]]
    citations = (await http.get(f"/api/v1/messages/{copied[1]['id']}/citations")).json()["data"]
    assert [one["support"] for one in citations] == copied[1]["citation_support"]
    rewound = await http.post(f"/api/v1/sessions/{session_id}/rewind", json={"message_id": messages[1]["id"]})
    assert set(rewound.json()["data"]["ids"]) == {one["id"] for one in messages[2:]}
    assert len(await loaded(http, session_id)) == 2


async def test_asked_again_with_what_was_chosen_before_and_with_something_else(
    http: httpx2.AsyncClient, session_id: str
) -> None:
    first, answer, *_ = await loaded(http, session_id)
    events = await ask(http, f"/api/v1/messages/{answer['id']}/regenerate")
    assert events[0]["response_type"] == "agent_query"
    question, again = await loaded(http, session_id)
    assert again["id"] == events[0]["assistant_message_id"]
    assert again["id"] != answer["id"]
    assert question["id"] != first["id"]
    assert {name: question[name] for name in BESIDE} == BESIDE
    trace = (await http.get(f"/api/v1/messages/{again['id']}/trace")).json()["data"]
    assert trace["settings"]["rerank_top_k"] == {"value": 3, "origin": "request"}
    await ask(http, f"/api/v1/messages/{question['id']}/regenerate", settings={"rerank_top_k": 7})
    trace = (await http.get(f"/api/v1/messages/{(await loaded(http, session_id))[1]['id']}/trace")).json()["data"]
    assert trace["settings"]["rerank_top_k"]["value"] == 7


async def test_messages_and_sessions_go(http: httpx2.AsyncClient, session_id: str) -> None:
    question, *_ = await loaded(http, session_id)
    gone = await http.delete(f"/api/v1/messages/{session_id}/{question['id']}")
    assert gone.json()["data"] == {"id": question["id"]}
    assert (await http.delete(f"/api/v1/messages/{session_id}/{question['id']}")).status_code == 404
    assert len((await http.delete(f"/api/v1/sessions/{session_id}/messages")).json()["data"]["ids"]) == 3
    assert await loaded(http, session_id) == []
    other = (await http.post("/api/v1/sessions")).json()["data"]["id"]
    body = {"ids": [session_id, other, "no-such"]}
    response = await http.request("DELETE", "/api/v1/sessions/batch", json=body)
    assert response.json()["data"]["ids"] == sorted([session_id, other])
    assert (await http.get(f"/api/v1/sessions/{other}")).status_code == 404
    assert (await http.request("DELETE", "/api/v1/sessions/batch", json={"ids": []})).status_code == 422


async def test_feedback(http: httpx2.AsyncClient, session_id: str) -> None:
    question, answer, *_ = await loaded(http, session_id)
    path = f"/api/v1/messages/{answer['id']}/feedback"
    given = await http.post(path, json={"thumb": "down", "comment": "Устарело"})
    assert given.json()["data"]["feedback"] == {"thumb": "down", "comment": "Устарело"}
    assert (await loaded(http, session_id))[1]["feedback"] == {"thumb": "down", "comment": "Устарело"}
    assert (await http.post(path, json={})).json()["data"]["feedback"] is None
    assert (await http.post(path, json={"thumb": "sideways"})).status_code == 422
    assert (await http.post(f"/api/v1/messages/{question['id']}/feedback", json={"thumb": "up"})).status_code == 422


async def test_export(http: httpx2.AsyncClient, session_id: str) -> None:
    response = await http.get(f"/api/v1/sessions/{session_id}/export")
    assert response.headers["content-type"] == "text/markdown; charset=utf-8"
    assert response.headers["content-disposition"].startswith("attachment; ")
    assert f"# {QUESTION}" in response.text
    assert f"> {QUESTION}" in response.text
    assert PASSAGE in response.text
    assert "[1]" in response.text
    assert "<kb" not in response.text


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"quoted_context": "x" * 8_001}, "quoted_context"),
        ({"attachments": [{"name": "", "content": "x"}]}, "attachments.0.name"),
        ({"attachments": [{"content": "x"}]}, "attachments.0.name"),
        ({"attachments": ["x"]}, "attachments.0"),
        ({"attachments": [{"name": "a", "content": "x"}] * 11}, "attachments"),
    ],
)
async def test_what_can_not_stand_beside_a_question(http: httpx2.AsyncClient, body: dict[str, Any], field: str) -> None:
    session_id = (await http.post("/api/v1/sessions")).json()["data"]["id"]
    response = await http.post(f"/api/v1/knowledge-chat/{session_id}", json={"query": "a", **body})
    assert response.status_code == 422
    assert response.json()["error"]["details"]["field"] == field
    too_much = [{"name": "a", "content": "x" * 20_000}] * 2
    response = await http.post(f"/api/v1/knowledge-chat/{session_id}", json={"query": "a", "attachments": too_much})
    assert (response.status_code, "together" in response.text) == (422, True)
