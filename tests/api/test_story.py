"""A base as people keep it, over HTTP, on both databases: each step shows in search, in the answer and in its trace."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from opora.bootstrap import App
from opora.bootstrap.models import Models
from opora.settings import Settings

from .conftest import client_of
from .letters import LetterEmbedder

QUESTION = "Когда возмещают проезд?"
RULES = (
    "# Склад\n\nНасос выдают по заявке мастера смены в тот же день.\n\n# Пропуск\n\nПропуск оформляет охрана за час.\n"
)
PUMP = "Когда выдают насос?"


class Story:
    """One client of one installation, and what it sees."""

    def __init__(self, app: App, http: httpx2.AsyncClient) -> None:
        self.app, self.http = app, http

    async def call(self, method: str, path: str, status: int = 200, **body: Any) -> Any:
        response = await self.http.request(method, f"/api/v1{path}", **body)
        assert response.status_code == status, response.text
        return response.json().get("data")

    async def base(self, name: str, kind: str = "document") -> str:
        return str((await self.call("POST", "/knowledge-bases", 201, json={"name": name, "type": kind}))["id"])

    async def ask(self, question: str, *base_ids: str, **more: Any) -> Answer:
        session = (await self.call("POST", "/sessions", 201, json={}))["id"]
        body = {"query": question, "knowledge_base_ids": list(base_ids), "disable_title": True, "explain": True, **more}
        response = await self.http.post(f"/api/v1/knowledge-chat/{session}", json=body)
        assert response.status_code == 200, response.text
        events = [json.loads(line[5:]) for line in response.text.splitlines() if line.startswith("data:")]
        said = "".join(one.get("content", "") for one in events if one.get("response_type") == "answer")
        (_, message) = await self.call("GET", f"/messages/{session}/load")
        trace = await self.call("GET", f"/messages/{message['id']}/trace")
        return Answer(said, str(message["id"]), trace)

    async def found(self, query: str, *base_ids: str, **more: Any) -> list[dict[str, Any]]:
        body = {"query": query, "knowledge_base_ids": list(base_ids), "match_count": 5, **more}
        return list(await self.call("POST", "/knowledge-search", json=body))


class Answer:
    def __init__(self, text: str, message_id: str, trace: dict[str, Any]) -> None:
        self.text, self.message_id, self.trace = text, message_id, trace

    def candidate(self, chunk_id: str) -> dict[str, Any] | None:
        return next((one for one in self.trace["candidates"] if one["chunk_id"] == chunk_id), None)


@pytest.fixture(params=["sqlite", "postgresql"])
async def story(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Story]:
    """On PostgreSQL both the documents and the search index are there."""
    settings: dict[str, Any] = {"data": tmp_path}
    if request.param == "postgresql":
        url = await request.getfixturevalue("postgres_server").create()
        settings |= {"database_url": url, "RETRIEVE_DRIVER": "postgres"}
    app = await App.open(Settings.model_validate(settings), models=Models(embedder=LetterEmbedder(), chat=None))
    async with client_of(app) as http:
        yield Story(app, http)
    await app.close()


async def test_questions_with_their_answers(story: Story) -> None:
    base = await story.base("Вопросы", "faq")
    faq = f"/knowledge-bases/{base}/faq"
    lines = ["Вопрос,Ответ", f"{QUESTION},После поездки за три дня."]
    lines += [f"Тема {number * 7919} пункт {number}?,Ответ {number}." for number in range(499)]
    task = await story.call("POST", f"{faq}/entries", 202, files={"file": ("faq.csv", "\n".join(lines).encode())})
    await story.app.jobs.idle()
    told = await story.call("GET", f"/faq/import/progress/{task['task_id']}")
    assert (told["status"], told["added"], told["failed"]) == ("completed", 500, 0)
    entry = await story.call("GET", f"{faq}/entry/1")

    async def searched(query: str = QUESTION) -> bool:
        found = await story.call("POST", f"{faq}/search", json={"query_text": query})
        return entry["id"] in [one["id"] for one in found]

    first = await story.ask(QUESTION, base)
    assert "После поездки за три дня." in first.text
    assert await searched()
    assert not first.candidate(entry["id"])["dropped_at"]  # type: ignore[index]

    corrected = await story.call("PUT", f"{faq}/entry/1", json={"answers": ["За пять дней."], "state": entry["state"]})
    second = await story.ask(QUESTION, base)
    assert ("За пять дней." in second.text, "три дня" in second.text) == (True, False)
    refused = await story.call("PUT", f"{faq}/entry/1", 409, json={"answers": ["Никогда."], "state": entry["state"]})
    assert refused["current"]["answers"] == ["За пять дней."]

    await story.call("PUT", f"{faq}/entry/1", json={"negative_questions": ["проезд на такси"]})
    silent = await story.ask("Проезд на такси", base)
    assert "За пять дней." not in silent.text
    assert not await searched("проезд на ТАКСИ")
    dropped = silent.candidate(entry["id"])
    assert dropped is None or dropped["reason"] == "negative_question"
    assert "За пять дней." in (await story.ask(QUESTION, base)).text

    await story.call("PUT", f"{faq}/entries/fields", json={"ids": [1], "is_enabled": False})
    off = await story.ask(QUESTION, base)
    assert ("За пять дней." in off.text, await searched(), off.candidate(entry["id"])) == (False, False, None)

    back = {"is_enabled": True, "answers": entry["answers"], "negative_questions": []}
    reverted = await story.call("PUT", f"{faq}/entry/1", json=back)
    assert (reverted["state"] == entry["state"], corrected["state"] == entry["state"]) == (True, False)
    await story.app.jobs.idle()
    last = await story.ask(QUESTION, base)
    assert ("После поездки за три дня." in last.text, await searched()) == (True, True)


async def test_a_correction_under_an_old_answer(story: Story) -> None:
    base = await story.base("Правила")
    made = {"title": "Склад", "content": RULES}
    document = (await story.call("POST", f"/knowledge-bases/{base}/knowledge/manual", 201, json=made))["id"]
    await story.app.jobs.idle()
    before = await story.ask(PUMP, base)
    assert "в тот же день" in before.text
    cited = await story.call("GET", f"/messages/{before.message_id}/citations")
    chunk = next(one for one in await story.call("GET", f"/chunks/{document}") if "Насос" in one["content"])
    text = chunk["content"].replace("в тот же день", "на следующий день")
    edited = await story.call("PUT", f"/chunks/{document}/{chunk['id']}", json={"content": text})
    after = await story.ask(PUMP, base)
    assert ("на следующий день" in after.text, "в тот же день" in after.text) == (True, False)
    assert [one["content"] for one in await story.found(PUMP, base) if "Насос" in one["content"]] == [text]
    assert (before.candidate(chunk["id"]) is None, after.candidate(chunk["id"]) is None) == (False, True)
    assert await story.call("GET", f"/messages/{before.message_id}/citations") == cited
    old = await story.call("GET", f"/chunks/by-id/{chunk['id']}")
    assert ("в тот же день" in old["content"], old["is_current"], old["current_chunk_id"]) == (
        True,
        False,
        edited["id"],
    )
    await story.call("POST", f"/chunks/{document}/{edited['id']}/revert", json={"revision": 0})
    assert "в тот же день" in (await story.ask(PUMP, base)).text


async def test_tags_moves_and_a_base_that_goes_while_it_is_searched(story: Story) -> None:
    first, second = await story.base("Первая"), await story.base("Вторая")
    documents = []
    for title in ("Склад", "Цех"):
        body = {"title": title, "content": f"{RULES}\n\n{title}: насос стоит у стены."}
        added = await story.call("POST", f"/knowledge-bases/{first}/knowledge/manual", 201, json=body)
        documents.append(added["id"])
    tag = (await story.call("POST", f"/knowledge-bases/{first}/tags", 201, json={"name": "Важное"}))["id"]
    await story.app.jobs.idle()
    await story.call("PUT", f"/knowledge/{documents[1]}", json={"tag_ids": [tag]})
    tagged = await story.found(PUMP, first, tag_ids=[tag])
    assert {one["knowledge_id"] for one in tagged} == {documents[1]}
    answer = await story.ask(PUMP, first, tag_ids=[tag])
    assert {one["document_id"] for one in answer.trace["candidates"]} == {documents[1]}

    await story.call(
        "POST", "/knowledge/move", 202, json={"knowledge_ids": [documents[0]], "knowledge_base_id": second}
    )
    await story.app.jobs.idle()
    assert {one["knowledge_id"] for one in await story.found(PUMP, second)} == {documents[0]}
    assert {one["knowledge_id"] for one in await story.found(PUMP, first)} == {documents[1]}
    moved = await story.ask(PUMP, second)
    assert "в тот же день" in moved.text
    assert {one["document_id"] for one in moved.trace["candidates"]} == {documents[0]}

    searches = [asyncio.ensure_future(searched_or_gone(story, first, second)) for _ in range(12)]
    await story.call("DELETE", f"/knowledge-bases/{first}")
    for found in await asyncio.gather(*searches):
        assert found is None or {one["knowledge_base_id"] for one in found} <= {first, second}
    await story.app.jobs.idle()
    assert await searched_or_gone(story, first, second) is None
    assert {one["knowledge_id"] for one in await story.found(PUMP, second)} == {documents[0]}
    assert {one["knowledge_id"] for one in await story.found(PUMP)} == {documents[0]}


async def searched_or_gone(story: Story, *base_ids: str) -> list[dict[str, Any]] | None:
    """None where a base is not there any more; anything but these two fails."""
    body = {"query": PUMP, "knowledge_base_ids": list(base_ids)}
    response = await story.http.post("/api/v1/knowledge-search", json=body)
    assert response.status_code in (200, 404), response.text
    return list(response.json()["data"]) if response.status_code == 200 else None
