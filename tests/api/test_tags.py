"""Tags sort documents and entries, limit a search, and leave nothing behind when they go."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from opora.bootstrap import App
from opora.domain.errors import EngineError
from opora.domain.knowledge import BaseType
from opora.domain.scope import LOCAL_PRINCIPAL

from .conftest import scope_of

TEXT = "Расходы на проезд возмещают по документам после возвращения."


class Shelf:
    """A base with two documents of the same words, and short words for what people do to it."""

    def __init__(self, app: App, http: httpx2.AsyncClient, base_id: str, documents: list[str]) -> None:
        self.app, self.http, self.base_id, self.documents = app, http, base_id, documents

    @property
    def tags(self) -> str:
        return f"/api/v1/knowledge-bases/{self.base_id}/tags"

    async def tag(self, name: str, **body: Any) -> str:
        response = await self.http.post(self.tags, json={"name": name, **body})
        assert response.status_code == 201, response.text
        return str(response.json()["data"]["id"])

    async def put(self, document_id: str, **body: Any) -> httpx2.Response:
        response = await self.http.put(f"/api/v1/knowledge/{document_id}", json=body)
        await self.app.jobs.idle()
        return response

    async def found(self, **body: Any) -> list[str]:
        asked = {"query": "возмещают расходы на проезд", "knowledge_base_ids": [self.base_id], **body}
        response = await self.http.post("/api/v1/knowledge-search", json=asked)
        assert response.status_code == 200, response.text
        return [result["knowledge_id"] for result in response.json()["data"]]


@pytest.fixture
async def shelf(app: App, http: httpx2.AsyncClient) -> Shelf:
    base = await app.bases.create(scope_of(LOCAL_PRINCIPAL), name="Полка")
    scope = scope_of(LOCAL_PRINCIPAL, base.base_id)
    documents = [
        await app.documents.add_text(scope, base.base_id, title=name, content=f"{TEXT} Вариант {name}.")
        for name in "АБ"
    ]
    await app.jobs.idle()
    return Shelf(app, http, base.base_id, [document.document_id for document in documents])


async def test_tags_are_kept_counted_and_in_their_order(shelf: Shelf) -> None:
    late, early = await shelf.tag("Кадры", position=2, color="red"), await shelf.tag("ИТ", position=1)
    await shelf.put(shelf.documents[0], tag_ids=[late, early])
    await shelf.put(shelf.documents[1], tag_ids=[late])
    listed = (await shelf.http.get(shelf.tags)).json()["data"]
    assert [(tag["name"], tag["color"], tag["knowledge_count"]) for tag in listed] == [
        ("ИТ", "", 1),
        ("Кадры", "red", 2),
    ]
    renamed = await shelf.http.put(f"{shelf.tags}/{early}", json={"name": "Связь"})
    assert (renamed.json()["data"]["name"], renamed.json()["data"]["position"]) == ("Связь", 1)


async def test_a_name_is_there_once_whatever_its_case(shelf: Shelf) -> None:
    tag = await shelf.tag("Кадры")
    for response in (
        await shelf.http.post(shelf.tags, json={"name": " КАДРЫ "}),
        await shelf.http.put(f"{shelf.tags}/{await shelf.tag('ИТ')}", json={"name": "кадры"}),
    ):
        assert response.status_code == 409
        assert response.json()["error"]["details"]["tag_id"] == tag


async def test_a_search_keeps_to_a_tag_and_no_threshold_applies_to_it(shelf: Shelf) -> None:
    tag = await shelf.tag("Кадры")
    first, second = shelf.documents
    assert sorted(await shelf.found()) == sorted([first, second])
    changed = await shelf.put(second, tag_ids=[tag])
    assert changed.json()["data"]["tag_ids"] == [tag]
    assert await shelf.found(tag_ids=[tag]) == [second]
    chunks = (await shelf.http.get(f"/api/v1/chunks/{second}")).json()["data"]
    assert all(chunk["tag_ids"] == [tag] for chunk in chunks)
    await shelf.put(second, tag_ids=[])
    assert await shelf.found(tag_ids=[tag]) == []


async def test_an_answer_stands_on_tagged_documents_only(shelf: Shelf) -> None:
    tag = await shelf.tag("Кадры")
    await shelf.put(shelf.documents[1], tag_ids=[tag])
    session = (await shelf.http.post("/api/v1/sessions", json={})).json()["data"]["id"]
    body = {"query": "Как возмещают расходы на проезд?", "tag_ids": [tag]}
    await shelf.http.post(f"/api/v1/knowledge-chat/{session}", json=body)
    (_, answer) = (await shelf.http.get(f"/api/v1/messages/{session}/load")).json()["data"]
    assert {one["knowledge_id"] for one in answer["knowledge_references"]} == {shelf.documents[1]}


async def test_new_chunks_of_a_tagged_document_have_its_tags(shelf: Shelf) -> None:
    tag = await shelf.tag("Кадры")
    await shelf.put(shelf.documents[0], tag_ids=[tag])
    await shelf.http.post(f"/api/v1/chunks/{shelf.documents[0]}", json={"content": "Суточные платят вперёд."})
    await shelf.http.post(f"/api/v1/knowledge/{shelf.documents[0]}/reparse")
    await shelf.app.jobs.idle()
    chunks = (await shelf.http.get(f"/api/v1/chunks/{shelf.documents[0]}")).json()["data"]
    assert [chunk["tag_ids"] for chunk in chunks] == [[tag]] * len(chunks)
    assert len(chunks) > 1


async def test_a_tag_that_goes_is_taken_off_everything(shelf: Shelf) -> None:
    gone, stays = await shelf.tag("Уйдёт"), await shelf.tag("Останется")
    await shelf.put(shelf.documents[0], tag_ids=[gone, stays])
    await shelf.put(shelf.documents[1], tag_ids=[gone])
    assert (await shelf.http.delete(f"{shelf.tags}/{gone}")).status_code == 200
    await shelf.app.jobs.idle()
    first, second = [(await shelf.http.get(f"/api/v1/knowledge/{one}")).json()["data"] for one in shelf.documents]
    assert (first["tag_ids"], second["tag_ids"]) == ([stays], [])
    assert await shelf.found(tag_ids=[stays]) == [shelf.documents[0]]
    for path, body in (
        ("/api/v1/knowledge-search", {"query": "проезд", "tag_ids": [gone]}),
        (f"/api/v1/knowledge-bases/{shelf.base_id}/hybrid-search", {"query_text": "проезд", "tag_ids": [gone]}),
    ):
        response = await shelf.http.post(path, json=body)
        assert response.status_code == 404, "a search by a tag that is gone says so"
    refused = await shelf.put(shelf.documents[0], tag_ids=[gone])
    assert (refused.status_code, gone in refused.text) == (422, True)


async def test_several_documents_are_tagged_at_once_or_none(shelf: Shelf) -> None:
    tag = await shelf.tag("Кадры")
    body = {"knowledge_ids": shelf.documents, "tag_ids": [tag]}
    response = await shelf.http.post("/api/v1/knowledge/tags", json=body)
    assert [one["tag_ids"] for one in response.json()["data"]] == [[tag], [tag]]
    wrong = {"knowledge_ids": [shelf.documents[0], "absent"], "tag_ids": []}
    assert (await shelf.http.post("/api/v1/knowledge/tags", json=wrong)).status_code == 404
    assert (await shelf.http.get(shelf.tags)).json()["data"][0]["knowledge_count"] == 2


async def test_an_engine_that_is_down_is_told_later(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    tag = await shelf.tag("Кадры")

    async def fail(*_: object) -> None:
        raise EngineError("The engine is down.")

    with monkeypatch.context() as broken:
        broken.setattr(shelf.app._engine, "set_tags", fail)
        response = await shelf.http.put(f"/api/v1/knowledge/{shelf.documents[1]}", json={"tag_ids": [tag]})
        assert response.status_code == 200
    await shelf.app.jobs.idle()
    assert await shelf.found(tag_ids=[tag]) == [shelf.documents[1]]


async def test_entries_of_a_faq_take_tags_of_their_base_only(app: App, http: httpx2.AsyncClient, shelf: Shelf) -> None:
    base = await app.bases.create(scope_of(LOCAL_PRINCIPAL), name="Вопросы", base_type=BaseType.FAQ)
    faq = Shelf(app, http, base.base_id, [])
    foreign, own = await shelf.tag("Чужой"), await faq.tag("Свой")
    path = f"/api/v1/knowledge-bases/{base.base_id}/faq/entry"
    entry = {"standard_question": "Когда?", "answers": ["Завтра."]}
    refused = await http.post(path, json={**entry, "tag_ids": [foreign]})
    assert (refused.status_code, foreign in refused.text) == (422, True)
    made = await http.post(path, json={**entry, "tag_ids": [own]})
    assert made.status_code == 201
    assert (await http.get(faq.tags)).json()["data"][0]["entry_count"] == 1
    await http.delete(f"{faq.tags}/{own}")
    assert (await http.get(f"{path}/{made.json()['data']['id']}")).json()["data"]["tag_ids"] == []


async def test_title_description_and_metadata_are_changed_and_the_content_stays(shelf: Shelf) -> None:
    first, _ = shelf.documents
    before = (await shelf.http.get(f"/api/v1/knowledge/{first}")).json()["data"]
    body = {"title": "Новое имя", "description": "О поездках", "metadata": {"отдел": "кадры"}}
    after = (await shelf.put(first, **body)).json()["data"]
    assert {name: after[name] for name in body} == body
    assert (after["file_hash"], after["chunk_count"]) == (before["file_hash"], before["chunk_count"])
    assert (await shelf.put(first, title="  ")).status_code == 422
    assert (await shelf.put(first)).json()["data"]["title"] == "Новое имя"


@pytest.mark.parametrize("wrong", [{"tag_ids": ["gone"]}, {"title": " "}])
async def test_a_change_that_does_not_fit_changes_nothing(shelf: Shelf, wrong: dict[str, Any]) -> None:
    first, _ = shelf.documents
    before = (await shelf.http.get(f"/api/v1/knowledge/{first}")).json()["data"]
    fine = {"title": "Другое", "tag_ids": [await shelf.tag("Метка")], "enable_status": "disabled"}
    refused = await shelf.put(first, **{**fine, **wrong})
    assert refused.status_code == 422
    assert (await shelf.http.get(f"/api/v1/knowledge/{first}")).json()["data"] == before


@pytest.mark.parametrize("wrong", [{"tag_ids": ["gone"]}, {"title": " "}, {"folder": "/".join("ab" * 600)}])
async def test_new_words_are_not_written_where_another_field_does_not_fit(shelf: Shelf, wrong: dict[str, Any]) -> None:
    made = await shelf.http.post(
        f"/api/v1/knowledge-bases/{shelf.base_id}/knowledge/manual", json={"title": "Свой", "content": "Прежние слова."}
    )
    document = made.json()["data"]["id"]
    await shelf.app.jobs.idle()
    before = (await shelf.http.get(f"/api/v1/knowledge/{document}")).json()["data"]
    refused = await shelf.put(document, content="Новые слова.", **wrong)
    assert refused.status_code == 422
    await shelf.app.jobs.idle()
    assert (await shelf.http.get(f"/api/v1/knowledge/{document}")).json()["data"] == before
    assert (await shelf.http.get(f"/api/v1/knowledge/{document}/text")).json()["data"]["text"] == "Прежние слова."


async def test_a_document_that_is_switched_off_is_found_no_more_until_it_is_on_again(shelf: Shelf) -> None:
    first, second = shelf.documents
    chunk = (await shelf.http.get(f"/api/v1/chunks/{first}")).json()["data"][0]["id"]
    off = await shelf.put(first, enable_status="disabled")
    assert off.json()["data"]["enable_status"] == "disabled"
    assert await shelf.found() == [second]
    await shelf.put(first, enable_status="enabled")
    assert sorted(await shelf.found()) == sorted([first, second])
    await shelf.http.put(f"/api/v1/chunks/{first}/{chunk}", json={"is_enabled": False})
    for status in ("disabled", "enabled"):
        await shelf.put(first, enable_status=status)
    assert await shelf.found() == [second], "a chunk that was off by itself stays off"


@pytest.mark.parametrize("name", ["", "   ", "я" * 101])
async def test_names_of_tags_are_short_and_not_blank(shelf: Shelf, name: str) -> None:
    response = await shelf.http.post(shelf.tags, json={"name": name})
    assert (response.status_code, "name" in response.text) == (422, True)
