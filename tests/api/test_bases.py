"""Knowledge bases are made with their settings, changed, duplicated, counted, mended and deleted."""

import asyncio
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from opora.bootstrap import App
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.domain.search import IndexRow
from opora.jobs import mend
from opora.ports import Page

from .conftest import PASSAGE, STRANGER, add_base, add_text, scope_of

PATH = "/api/v1/knowledge-bases"


async def test_made_with_defaults(http: httpx2.AsyncClient) -> None:
    response = await http.post(PATH, json={"name": "  Правила  "})
    assert response.status_code == 201
    base = response.json()["data"]
    assert (base["name"], base["type"], base["is_pinned"]) == ("Правила", "document", False)
    assert base["chunking_config"] == {
        "chunk_size": 512,
        "chunk_overlap": 80,
        "enable_parent_child": False,
        "parent_chunk_size": 4096,
        "child_chunk_size": 384,
    }
    assert base["indexing_strategy"] == {"vector": True, "keyword": True, "wiki": False, "graph": False}
    assert (await http.get(f"{PATH}/{base['id']}")).json()["data"] == base


async def test_listed_renamed_pinned_and_deleted(http: httpx2.AsyncClient) -> None:
    ids = [(await http.post(PATH, json={"name": name})).json()["data"]["id"] for name in ("Один", "Два")]
    listed = (await http.get(PATH)).json()
    assert {base["id"] for base in listed["data"]} == set(ids)
    assert (listed["total"], listed["page"], listed["page_size"]) == (2, 1, 20)
    assert [base["id"] for base in (await http.get(PATH, params={"name": "Два"})).json()["data"]] == [ids[1]]
    renamed = (await http.put(f"{PATH}/{ids[0]}", json={"name": "Три", "description": "о"})).json()["data"]
    assert (renamed["name"], renamed["description"]) == ("Три", "о")
    assert (await http.put(f"{PATH}/{ids[0]}", json={"description": ""})).json()["data"]["name"] == "Три"
    assert (await http.post(f"{PATH}/{ids[0]}/pin")).json()["data"]["is_pinned"] is True
    assert (await http.delete(f"{PATH}/{ids[0]}/pin")).json()["data"]["is_pinned"] is False
    assert (await http.delete(f"{PATH}/{ids[0]}")).json() == {"success": True, "data": {"id": ids[0]}}
    assert (await http.get(f"{PATH}/{ids[0]}")).status_code == 404
    assert (await http.get(PATH)).json()["total"] == 1


REFUSED: list[tuple[dict[str, object], str]] = [
    ({}, "name"),
    ({"name": ""}, "name"),
    ({"name": " \n"}, "name"),
    ({"name": "x" * 256}, "name"),
    ({"name": None}, "name"),
    ({"name": "a", "type": "other"}, "type"),
    ({"name": "a", "chunking_config": {"chunk_size": 0}}, "chunking_config.chunk_size"),
    ({"name": "a", "chunking_config": {"chunk_size": 100, "chunk_overlap": 100}}, "chunking_config"),
    ({"name": "a", "indexing_strategy": {"vector": "perhaps"}}, "indexing_strategy.vector"),
]


async def test_what_does_not_fit_is_refused_by_name(http: httpx2.AsyncClient) -> None:
    for body, field in REFUSED:
        response = await http.post(PATH, json=body)
        assert response.status_code == 422, body
        assert response.json()["error"]["details"]["field"] == field, body
    assert (await http.get(PATH)).json()["total"] == 0


async def test_bodies_that_are_no_object(http: httpx2.AsyncClient) -> None:
    for content in ("{", "[]", "", "nul\0", '{"name": "a", }', '"\ud800"'):
        content_type = {"Content-Type": "application/json"}
        response = await http.post(PATH, content=content.encode("utf-8", "surrogatepass"), headers=content_type)
        assert response.status_code in (400, 422), content
        assert response.json()["success"] is False


async def test_what_can_not_be_an_id_is_not_found(http: httpx2.AsyncClient) -> None:
    for strange in ("%00", "a%0Ab", "x" * 300, "%E2%80%AE", "..", "%2e%2e"):
        response = await http.get(f"/api/v1/chunks/by-id/{strange}")
        assert response.status_code == 404, strange


async def made(http: httpx2.AsyncClient, name: str = "Правила", **body: Any) -> dict[str, Any]:
    response = await http.post(PATH, json={"name": name, **body})
    assert response.status_code == 201, response.text
    return dict(response.json()["data"])


@pytest.mark.parametrize("name", ["Учёт кадров", "УЧЕТ КАДРОВ", "  учет \n кадров "])
async def test_a_name_belongs_to_one_base_whatever_its_case(http: httpx2.AsyncClient, name: str) -> None:
    first, other = await made(http, "Учёт кадров"), await made(http, "Другая")
    for response in (
        await http.post(PATH, json={"name": name}),
        await http.put(f"{PATH}/{other['id']}", json={"name": name}),
        await http.post(f"{PATH}/{other['id']}/duplicate", json={"name": name}),
        await http.post(f"{PATH}/copy", json={"source_id": other["id"], "name": name}),
    ):
        assert response.status_code == 409, response.text
        body = response.json()
        assert body["error"]["details"]["base_id"] == first["id"]
        assert body["data"] == first
    assert (await http.put(f"{PATH}/{first['id']}", json={"name": name})).status_code == 200
    assert (await http.get(PATH)).json()["total"] == 2


async def test_a_deleted_name_is_free_and_another_tenant_has_its_own(app: App, http: httpx2.AsyncClient) -> None:
    await add_base(app, STRANGER, "Правила")
    first = await made(http)
    await http.delete(f"{PATH}/{first['id']}")
    assert (await made(http))["id"] != first["id"]


async def test_two_at_once_do_not_both_get_a_name(http: httpx2.AsyncClient) -> None:
    answers = await asyncio.gather(*(http.post(PATH, json={"name": "Правила"}) for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409, 409]


async def test_bases_of_one_name_from_earlier_versions_still_work(app: App, http: httpx2.AsyncClient) -> None:
    first = await made(http)
    (there,) = (await app.bases.browse(scope_of(LOCAL_PRINCIPAL), Page())).items
    async with app._database.begin() as stored:
        await stored.bases.add(replace(there, base_id="twin"))
    changed = await http.put(f"{PATH}/twin", json={"name": "Правила", "description": "Вторая"})
    assert (changed.status_code, changed.json()["data"]["description"]) == (200, "Вторая")
    assert (await http.post(PATH, json={"name": "Правила"})).json()["error"]["details"]["base_id"] in (
        first["id"],
        "twin",
    )
    assert (await http.put(f"{PATH}/twin", json={"name": "Вторые правила"})).status_code == 200


async def test_what_may_be_changed(http: httpx2.AsyncClient) -> None:
    base = await made(http)
    body = {
        "name": "Новые",
        "description": "о",
        "is_pinned": True,
        "chunking_config": {"chunk_size": 300},
        "indexing_strategy": {"keyword": False},
    }
    changed = (await http.put(f"{PATH}/{base['id']}", json=body)).json()["data"]
    assert (changed["name"], changed["description"], changed["is_pinned"]) == ("Новые", "о", True)
    assert changed["chunking_config"] == base["chunking_config"] | {"chunk_size": 300}
    assert changed["indexing_strategy"] == base["indexing_strategy"] | {"keyword": False}
    whole = await http.put(f"{PATH}/{base['id']}", json=changed)
    assert whole.json()["data"] | {"updated_at": ""} == changed | {"updated_at": ""}


SETTLED: list[tuple[str, Any]] = [
    ("type", "faq"),
    ("vector_store_id", "elsewhere"),
    ("faq_config", {"index_mode": "question_answer"}),
]


@pytest.mark.parametrize(("field", "value"), SETTLED)
async def test_what_is_settled_is_refused_with_the_reason(http: httpx2.AsyncClient, field: str, value: Any) -> None:
    base = await made(http)
    refused = await http.put(f"{PATH}/{base['id']}", json={"name": "Иначе", field: value})
    assert refused.status_code == 409
    error = refused.json()["error"]
    assert error["details"]["field"] == field
    assert "settled when a base is made" in error["message"]
    assert (await http.get(f"{PATH}/{base['id']}")).json()["data"] == base
    assert (await http.put(f"{PATH}/{base['id']}", json={field: base[field]})).status_code == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"chunking_config": {"chunk_overlap": 512}}, "chunking_config"),
        ({"chunking_config": {"chunk_size": 1}}, "chunking_config.chunk_size"),
        ({"chunking_config": {"enable_parent_child": True, "child_chunk_size": 5000}}, "chunking_config"),
        ({"indexing_strategy": {"vector": False, "keyword": False}}, "indexing"),
        ({"name": " "}, "name"),
    ],
)
async def test_changes_that_do_not_fit(http: httpx2.AsyncClient, body: dict[str, Any], field: str) -> None:
    base = await made(http)
    refused = await http.put(f"{PATH}/{base['id']}", json=body)
    assert (refused.status_code, refused.json()["error"]["details"]["field"]) == (422, field)
    assert (await http.get(f"{PATH}/{base['id']}")).json()["data"] == base


async def test_words_that_are_switched_on_are_found(app: App, http: httpx2.AsyncClient) -> None:
    base = await made(http, indexing_strategy={"keyword": False})
    manual = await http.post(f"{PATH}/{base['id']}/knowledge/manual", json={"title": "Проезд", "content": PASSAGE})
    assert manual.status_code == 201
    await app.jobs.idle()
    search = {"query": "возмещают проезд", "mode": "fulltext", "knowledge_base_ids": [base["id"]]}
    assert (await http.post("/api/v1/knowledge-search", json=search)).json()["data"] == []
    await http.put(f"{PATH}/{base['id']}", json={"indexing_strategy": {"keyword": True}})
    await app.jobs.idle()
    found = (await http.post("/api/v1/knowledge-search", json=search)).json()["data"]
    assert [one["content"] for one in found] == [PASSAGE]
    document = (await http.get(f"/api/v1/knowledge/{manual.json()['data']['id']}")).json()["data"]
    assert document["parse_status"] == "completed"


async def test_chunking_is_for_documents_to_come(app: App, http: httpx2.AsyncClient) -> None:
    base = await made(http)
    path = f"{PATH}/{base['id']}"
    text = " ".join(f"Предложение номер {n} говорит о проезде." for n in range(12))

    async def chunks_of(title: str) -> int:
        body = {"title": title, "content": f"{title}. {text}"}
        document = (await http.post(f"{path}/knowledge/manual", json=body)).json()["data"]
        await app.jobs.idle()
        return int((await http.get(f"/api/v1/knowledge/{document['id']}")).json()["data"]["chunk_count"])

    before = await chunks_of("Первый")
    await http.put(path, json={"chunking_config": {"chunk_size": 100, "chunk_overlap": 10}})
    assert before < await chunks_of("Второй")


async def test_a_duplicate_has_the_settings_and_nothing_else(app: App, http: httpx2.AsyncClient) -> None:
    settings = {
        "description": "о",
        "chunking_config": {"chunk_size": 300},
        "enrichment_config": {"summary": True},
        "indexing_strategy": {"vector": False},
    }
    base = await made(http, **settings)
    await http.post(f"{PATH}/{base['id']}/pin")
    await http.post(f"{PATH}/{base['id']}/knowledge/manual", json={"title": "Проезд", "content": PASSAGE})
    await app.jobs.idle()
    first = (await http.post(f"{PATH}/{base['id']}/duplicate")).json()["data"]
    own = {"id", "name", "created_at", "updated_at"}
    assert {key: value for key, value in first.items() if key not in own} == {
        key: value for key, value in base.items() if key not in own
    }
    assert first["name"] == "Правила (2)"
    assert (await http.post(f"{PATH}/{first['id']}/duplicate")).json()["data"]["name"] == "Правила (3)"
    named = await http.post(f"{PATH}/{base['id']}/duplicate", json={"name": "Отчёт (2024)"})
    assert named.json()["data"]["name"] == "Отчёт (2024)"
    assert (await http.get(f"{PATH}/{first['id']}/knowledge")).json()["total"] == 0


async def test_statistics(app: App, http: httpx2.AsyncClient) -> None:
    base = await made(http)
    path = f"{PATH}/{base['id']}"
    empty = (await http.get(f"{path}/stats")).json()["data"]
    assert empty == {
        "documents": 0,
        "documents_by_status": {"pending": 0, "processing": 0, "completed": 0, "failed": 0},
        "faq_entries": 0,
        "chunks": 0,
        "embedded": 0,
        "file_bytes": 0,
        "storage_bytes": 0,
        "changed_at": base["updated_at"],
    }
    for title, data in (("a.md", PASSAGE.encode()), ("b.md", b"# B\n\nOther text here."), ("c.pdf", b"%PDF-1.7 no")):
        assert (await http.post(f"{path}/knowledge/file", files={"file": (title, data)})).status_code == 201
    await app.jobs.idle()
    found = (await http.get(f"{path}/stats")).json()["data"]
    listed = (await http.get(f"{path}/knowledge")).json()["data"]
    assert found["documents_by_status"] == {"pending": 0, "processing": 0, "completed": 2, "failed": 1}
    assert (found["documents"], found["chunks"]) == (3, sum(one["chunk_count"] for one in listed))
    assert found["file_bytes"] == sum(one["file_size"] for one in listed) > 0
    assert found["storage_bytes"] > len(PASSAGE)
    assert found["changed_at"] == max(one["updated_at"] for one in listed) > base["updated_at"]
    await http.delete(f"/api/v1/knowledge/{listed[0]['id']}")
    await app.jobs.idle()
    assert (await http.get(f"{path}/stats")).json()["data"]["documents"] == 2


async def test_statistics_of_a_faq_count_its_entries(app: App, http: httpx2.AsyncClient) -> None:
    base = await made(http, type="faq")
    entry = {"standard_question": "Как войти?", "similar_questions": ["Где вход?"], "answers": ["Через дверь."]}
    await http.post(f"{PATH}/{base['id']}/faq/entry", json=entry)
    await app.jobs.idle()
    found = (await http.get(f"{PATH}/{base['id']}/stats")).json()["data"]
    assert (found["documents"], found["faq_entries"], found["chunks"]) == (0, 1, 2)


async def test_a_base_that_is_deleted_while_it_is_searched(app: App, http: httpx2.AsyncClient) -> None:
    """Each search finds passages or none, or is told that the base is gone; then nothing is left anywhere."""
    base = await made(http)
    path = f"{PATH}/{base['id']}"
    for number in range(20):
        body = {"title": f"Проезд {number}", "content": f"{PASSAGE} Случай {number}."}
        await http.post(f"{path}/knowledge/manual", json=body)
    await app.jobs.idle()
    search = {"query": "возмещают проезд", "knowledge_base_ids": [base["id"]]}
    seen: list[tuple[int, int]] = []
    answers: asyncio.Queue[int] = asyncio.Queue()
    gone = asyncio.Event()

    async def searching() -> None:
        while not gone.is_set():
            response = await http.post("/api/v1/knowledge-search", json=search)
            seen.append((response.status_code, len(response.json().get("data") or ())))
            answers.put_nowait(response.status_code)

    searches = [asyncio.create_task(searching()) for _ in range(4)]
    for _ in range(8):
        await answers.get()
    assert (await http.delete(path)).status_code == 200
    await app.jobs.idle()
    while await answers.get() != 404:
        pass
    gone.set()
    await asyncio.gather(*searches)
    assert {status for status, _ in seen} == {200, 404}
    assert all(count == 0 for status, count in seen if status == 404)
    assert [status for status, _ in seen[-4:]] == [404] * 4
    scope = scope_of(LOCAL_PRINCIPAL, base["id"])
    assert await app._engine.chunk_ids(scope, base["id"]) == set()
    assert await app._engine.storage_bytes(scope, base["id"]) == 0
    assert await app._blobs.stored() == []
    async with app._database.read() as stored:
        assert await stored.chunks.ids(replace(scope, include_disabled=True)) == set()
        assert await stored.documents.ids(scope) == []


async def test_what_the_engine_lost_or_kept_is_mended(
    app: App, http: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mend, "QUIET_SECONDS", 0)
    base_id, document_id = await add_text(app, LOCAL_PRINCIPAL, "# Один\n\nПервое слово.\n\n# Два\n\nВторое слово.")
    path = f"{PATH}/{base_id}/index"
    sound = {"is_sound": True, "missing": 0, "stray": 0, "vectorless": 0}
    assert (await http.get(path)).json()["data"] == sound
    scope = scope_of(LOCAL_PRINCIPAL, base_id)
    lost, *_ = await app._engine.chunk_ids(scope, base_id)
    await app._engine.delete_chunks(scope, base_id, [lost])
    row = IndexRow(
        chunk_id="stray", base_id=base_id, tenant_id=LOCAL_PRINCIPAL.tenant_id, document_id="gone", text="Чужое слово."
    )
    await app._engine.write(scope, [row])
    told = (await http.get(path)).json()["data"]
    assert told == {"is_sound": False, "missing": 1, "stray": 1, "vectorless": 0}
    assert (await http.post(path)).status_code == 202
    await app.jobs.idle()
    assert (await http.get(path)).json()["data"] == sound
    body = {"query": "слово", "knowledge_base_ids": [base_id]}
    found = (await http.post("/api/v1/knowledge-search", json=body)).json()["data"]
    assert len(found) == 2
    assert (await http.get(f"/api/v1/knowledge/{document_id}")).json()["data"]["parse_status"] == "completed"
