"""People correct chunks: the next search knows it, the last answer still shows what it stood on."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest

from opora.bootstrap import App
from opora.domain.errors import EngineError
from opora.domain.knowledge import CHUNK_HARD_CAP, ChunkingConfig
from opora.domain.scope import LOCAL_PRINCIPAL

from .conftest import scope_of

PARTS = [
    "Проезд возмещают по документам после возвращения сотрудника.",
    "Гостиницу оплачивает бухгалтерия по счёту за проживание.",
    "Отпуск длится двадцать восемь календарных дней ежегодно.",
]
WHOLE = [f"# Часть {n}\n\n{part}" for n, part in enumerate(PARTS)]
TEXT = "\n\n".join(WHOLE)


class Work:
    """One document in a base, and short words for what people do to it."""

    def __init__(self, app: App, http: httpx2.AsyncClient, base_id: str, document_id: str) -> None:
        self.app, self.http, self.base_id, self.id = app, http, base_id, document_id

    async def chunks(self) -> list[dict[str, Any]]:
        return list((await self.http.get(f"/api/v1/chunks/{self.id}?page_size=100")).json()["data"])

    async def put(self, chunk_id: str, **body: Any) -> httpx2.Response:
        return await self.http.put(f"/api/v1/chunks/{self.id}/{chunk_id}", json=body)

    async def edit(self, chunk_id: str, content: str) -> dict[str, Any]:
        response = await self.put(chunk_id, content=content)
        assert response.status_code == 200, response.text
        await self.app.jobs.idle()
        return dict(response.json()["data"])

    async def found(self, query: str) -> list[str]:
        body = {"query": query, "knowledge_base_ids": [self.base_id]}
        results = (await self.http.post("/api/v1/knowledge-search", json=body)).json()["data"]
        return [result["content"] for result in results]

    async def revisions(self, chunk_id: str) -> list[dict[str, Any]]:
        return list((await self.http.get(f"/api/v1/chunks/{self.id}/{chunk_id}/revisions")).json()["data"])

    async def document(self) -> dict[str, Any]:
        return dict((await self.http.get(f"/api/v1/knowledge/{self.id}")).json()["data"])

    async def read_anew(self, text: str = TEXT) -> None:
        scope = scope_of(LOCAL_PRINCIPAL, self.base_id)
        await self.app.documents.add_file(
            scope, self.base_id, file_name="правила.md", data=text.encode(), source="правила.md", replace=True
        )
        await self.app.jobs.idle()


@pytest.fixture
async def work(app: App, http: httpx2.AsyncClient) -> Work:
    return await made(app, http)


async def made(app: App, http: httpx2.AsyncClient, chunking: ChunkingConfig | None = None) -> Work:
    base = await app.bases.create(scope_of(LOCAL_PRINCIPAL), name="Правила", chunking=chunking)
    scope = scope_of(LOCAL_PRINCIPAL, base.base_id)
    document = await app.documents.add_file(
        scope, base.base_id, file_name="правила.md", data=TEXT.encode(), source="правила.md"
    )
    await app.jobs.idle()
    return Work(app, http, base.base_id, document.document_id)


async def test_an_edit_is_found_by_its_new_words_and_no_more_by_the_old_ones(work: Work) -> None:
    (first, *_) = await work.chunks()
    edited = await work.edit(first["id"], "Дорогу компенсируют авансом до поездки.")
    assert edited["id"] != first["id"]
    assert (edited["is_edited"], edited["context"], edited["chunk_index"]) == (True, first["context"], 0)
    assert "Дорогу компенсируют авансом до поездки." in await work.found("компенсируют авансом")
    assert not any("Проезд возмещают" in text for text in await work.found("возмещают по документам"))
    ids = await work.app._engine.chunk_ids(scope_of(LOCAL_PRINCIPAL, work.base_id), work.base_id)
    assert ids == {chunk["id"] for chunk in await work.chunks()}
    assert (await work.document())["chunk_count"] == len(PARTS)


async def test_neighbours_are_those_of_the_edited_text(work: Work) -> None:
    first, second, third = await work.chunks()
    edited = await work.edit(second["id"], "Жильё оплачивают по квитанции.")
    chunks = await work.chunks()
    assert [chunk["id"] for chunk in chunks] == [first["id"], edited["id"], third["id"]]
    assert [(chunk["pre_chunk_id"], chunk["next_chunk_id"]) for chunk in chunks] == [
        ("", edited["id"]),
        (first["id"], third["id"]),
        (edited["id"], ""),
    ]
    session = (await work.http.post("/api/v1/sessions", json={})).json()["data"]["id"]
    await work.http.post(f"/api/v1/knowledge-chat/{session}", json={"query": "Когда возмещают проезд по документам?"})
    (_, answer) = (await work.http.get(f"/api/v1/messages/{session}/load")).json()["data"]
    (passage,) = [one["content"] for one in answer["knowledge_references"] if "Проезд" in one["content"]]
    assert "Жильё оплачивают по квитанции." in passage, "a short chunk is widened by its edited neighbour"
    assert "Гостиницу" not in passage


async def test_an_old_answer_shows_what_it_quoted(work: Work) -> None:
    session = (await work.http.post("/api/v1/sessions", json={})).json()["data"]["id"]
    await work.http.post(f"/api/v1/knowledge-chat/{session}", json={"query": "Сколько дней длится отпуск ежегодно?"})
    (_, answer) = (await work.http.get(f"/api/v1/messages/{session}/load")).json()["data"]
    (cited, *_) = [one for one in answer["knowledge_references"] if "Отпуск" in one["content"]]
    edited = await work.edit(cited["id"], "Отпуск длится тридцать дней.")
    old = (await work.http.get(f"/api/v1/chunks/by-id/{cited['id']}")).json()["data"]
    assert (old["content"], old["revision"], old["is_current"]) == (WHOLE[2], 0, False)
    assert old["current_chunk_id"] == edited["id"]
    new = (await work.http.get(f"/api/v1/chunks/by-id/{edited['id']}")).json()["data"]
    assert (new["content"], new["revision"], new["is_current"]) == ("Отпуск длится тридцать дней.", 1, True)
    (checked, *_) = (await work.http.get(f"/api/v1/messages/{answer['id']}/citations")).json()["data"]
    assert checked["chunk_id"] == cited["id"]
    assert checked["support"] == "supported"


async def test_revisions_tell_who_did_what_and_an_earlier_state_comes_back(work: Work) -> None:
    (first, *_) = await work.chunks()
    one = await work.edit(first["id"], "Первая правка.")
    two = await work.edit(one["id"], "Вторая правка.")
    states = await work.revisions(first["id"])
    assert states == await work.revisions(two["id"])
    assert [(state["revision"], state["origin"], state["content"]) for state in states] == [
        (0, "parser", WHOLE[0]),
        (1, "edit", "Первая правка."),
        (2, "edit", "Вторая правка."),
    ]
    assert [state["is_current"] for state in states] == [False, False, True]
    assert states[2]["diff"] == ["@@ -1 +1 @@", "-Первая правка.", "+Вторая правка."]
    assert states[1]["author"] == LOCAL_PRINCIPAL.user_id
    path = f"/api/v1/chunks/{work.id}/{first['id']}/revert"
    back = (await work.http.post(path, json={"revision": 0})).json()["data"]
    await work.app.jobs.idle()
    assert back["content"] == WHOLE[0]
    assert back["id"] not in {first["id"], one["id"], two["id"]}
    assert WHOLE[0] in await work.found("возмещают по документам")
    refused = await work.http.post(path, json={"revision": 9})
    assert (refused.status_code, "revision" in refused.text) == (422, True)


async def test_the_second_of_two_edits_at_once_gets_a_conflict_with_both_versions(work: Work) -> None:
    (first, *_) = await work.chunks()
    answers = await asyncio.gather(
        work.put(first["id"], content="Правка одного."), work.put(first["id"], content="Правка другого.")
    )
    won, lost = sorted(answers, key=lambda response: response.status_code)
    assert (won.status_code, lost.status_code) == (200, 409)
    details = lost.json()["error"]["details"]
    assert details["current"]["content"] == won.json()["data"]["content"]
    assert details["current"]["chunk_id"] == won.json()["data"]["id"]
    assert {details["current"]["content"], details["yours"]["content"]} == {"Правка одного.", "Правка другого."}
    await work.app.jobs.idle()
    ids = await work.app._engine.chunk_ids(scope_of(LOCAL_PRINCIPAL, work.base_id), work.base_id)
    assert ids == {chunk["id"] for chunk in await work.chunks()}, "what lost leaves nothing in the engine"


async def test_an_engine_that_fails_refuses_the_edit_and_changes_nothing(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first, *_) = before = await work.chunks()

    async def fail(*_: object) -> None:
        raise EngineError("The engine is down.")

    monkeypatch.setattr(work.app.chunk_edits._engine, "write", fail)
    response = await work.put(first["id"], content="Не запишется.")
    assert response.status_code == 503
    assert await work.chunks() == before
    assert [state["revision"] for state in await work.revisions(first["id"])] == [0]


async def test_edits_and_deletions_survive_a_new_reading_of_the_file(work: Work) -> None:
    first, second, third = await work.chunks()
    edited = await work.edit(first["id"], "Дорогу компенсируют авансом.")
    await work.http.delete(f"/api/v1/chunks/{work.id}/{second['id']}")
    added = await work.http.post(
        f"/api/v1/chunks/{work.id}", json={"content": "Суточные платят вперёд.", "after_chunk_id": first["id"]}
    )
    assert added.status_code == 201, added.text
    await work.app.jobs.idle()
    expected = ["Дорогу компенсируют авансом.", "Суточные платят вперёд.", WHOLE[2]]
    assert [chunk["content"] for chunk in await work.chunks()] == expected
    await work.read_anew(TEXT + "\n\n# Часть 3\n\nНовая часть о премиях и наградах сотрудников.\n")
    chunks = await work.chunks()
    assert [chunk["content"] for chunk in chunks] == [
        *expected,
        "# Часть 3\n\nНовая часть о премиях и наградах сотрудников.",
    ]
    assert chunks[0]["id"] == edited["id"]
    assert [chunk["chunk_index"] for chunk in chunks] == [0, 1, 2, 3]
    assert chunks[2]["id"] == third["id"]
    assert (await work.document())["chunk_count"] == 4
    assert not any("Гостиницу" in text for text in await work.found("гостиницу оплачивает бухгалтерия"))
    assert "lost_edits" not in (await work.document())["metadata"]


async def test_an_edit_of_what_the_file_has_no_more_is_counted_and_kept(work: Work) -> None:
    (first, *_) = await work.chunks()
    edited = await work.edit(first["id"], "Дорогу компенсируют авансом.")
    await work.read_anew(TEXT.replace(PARTS[0], "Проезд больше не возмещают никому и никогда."))
    assert not any("авансом" in chunk["content"] for chunk in await work.chunks())
    assert (await work.document())["metadata"]["lost_edits"] == 1
    assert [state["content"] for state in await work.revisions(edited["id"])][-1] == "Дорогу компенсируют авансом."


async def test_several_are_switched_off_and_taken_out_at_once(work: Work) -> None:
    first, second, third = [chunk["id"] for chunk in await work.chunks()]
    body = {"ids": [first, second], "is_enabled": False}
    switched = await work.http.put(f"/api/v1/chunks/{work.id}/batch", json=body)
    assert [chunk["is_enabled"] for chunk in switched.json()["data"]] == [False, False]
    edited = await work.edit(first, "Выключенное и после правки молчит.")
    assert not edited["is_enabled"]
    assert await work.found("выключенное молчит") == []
    gone = await work.http.post(f"/api/v1/chunks/{work.id}/batch-delete", json={"ids": [second, third]})
    assert gone.json()["data"]["ids"] == [second, third]
    await work.app.jobs.idle()
    assert [chunk["id"] for chunk in await work.chunks()] == [edited["id"]]
    assert (await work.http.get(f"/api/v1/chunks/by-id/{third}")).json()["data"]["current_chunk_id"] == ""
    assert (await work.put(third, is_enabled=True)).status_code == 404
    assert (await work.revisions(third))[-1]["origin"] == "deleted"


@pytest.mark.parametrize("body", [{}, {"content": "  "}, {"content": "я" * (CHUNK_HARD_CAP + 1)}, {"content": 5}])
async def test_what_is_no_change_is_refused_and_named(work: Work, body: dict[str, Any]) -> None:
    (first, *_) = await work.chunks()
    response = await work.put(first["id"], **body)
    assert response.status_code == 422
    assert "content" in response.text


async def test_the_same_words_change_nothing(work: Work) -> None:
    (first, *_) = await work.chunks()
    assert (await work.edit(first["id"], WHOLE[0]))["id"] == first["id"]


async def test_children_taken_out_together_are_out_of_their_parent_and_the_numbers_have_no_gap(
    app: App, http: httpx2.AsyncClient
) -> None:
    work = await made(app, http, ChunkingConfig(parent_child=True, parent_size=400, child_size=80, child_overlap=0))
    children = [chunk for chunk in await work.chunks() if chunk["parent_chunk_id"]]
    gone = children[:2]
    await work.http.post(f"/api/v1/chunks/{work.id}/batch-delete", json={"ids": [one["id"] for one in gone]})
    left = await work.chunks()
    parent = next(chunk for chunk in left if chunk["id"] == gone[0]["parent_chunk_id"])
    assert not any(one["content"] in parent["content"] for one in gone)
    assert sorted(chunk["chunk_index"] for chunk in left) == list(range(len(left)))


async def test_a_parent_says_what_its_children_say_and_is_not_edited_itself(app: App, http: httpx2.AsyncClient) -> None:
    work = await made(app, http, ChunkingConfig(parent_child=True, parent_size=400, child_size=80, child_overlap=0))
    children = [chunk for chunk in await work.chunks() if chunk["parent_chunk_id"]]
    edited = await work.edit(children[0]["id"], "Дорогу компенсируют авансом.")
    parents = {chunk["id"]: chunk for chunk in await work.chunks() if chunk["chunk_type"] == "parent_text"}
    parent = parents[edited["parent_chunk_id"]]
    assert "Дорогу компенсируют авансом." in parent["content"]
    assert children[0]["content"] not in parent["content"]
    refused = await work.put(parent["id"], content="Родитель.")
    assert (refused.status_code, "parent_text" in refused.text) == (422, True)
    await work.read_anew(TEXT + "\n\n# Часть 9\n\nЕщё одна часть о чём-нибудь другом.\n")
    texts = [chunk["content"] for chunk in await work.chunks() if chunk["chunk_type"] == "parent_text"]
    assert any("Дорогу компенсируют авансом." in text for text in texts)


async def test_an_edited_passage_marks_no_words_of_the_file_that_it_does_not_say(work: Work) -> None:
    """Its answer is supported by its own words; where the file has other ones, no place in it is claimed."""
    (*_, third) = await work.chunks()
    edited = await work.edit(third["id"], "Больничный оплачивают с первого дня болезни.")
    assert edited["place"]["start"] == edited["place"]["end"] == third["place"]["start"]
    session = (await work.http.post("/api/v1/sessions", json={})).json()["data"]["id"]
    body = {"query": "Как оплачивают больничный?"}
    await work.http.post(f"/api/v1/knowledge-chat/{session}", json=body)
    (_, answer) = (await work.http.get(f"/api/v1/messages/{session}/load")).json()["data"]
    cited = (await work.http.get(f"/api/v1/messages/{answer['id']}/citations")).json()["data"]
    (checked, *_) = [one for one in cited if one["chunk_id"] == edited["id"]]
    assert checked["support"] == "supported"
    assert checked["document_place"] is None
