"""A search keeps to documents whose metadata fits, before anything is ranked."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from opora.bootstrap import App
from opora.domain.scope import LOCAL_PRINCIPAL

from .conftest import scope_of

TEXT = "Расходы на проезд возмещают по документам после возвращения."
DOCUMENTS: dict[str, dict[str, Any]] = {
    "А": {"год": 2023, "отдел": "кадры", "подписан": "2023-05-04", "черновик": False},
    "Б": {"год": 2024, "отдел": "бухгалтерия", "подписан": "2024-01-31T09:30:00+03:00", "авторы": ["Анна", "Олег"]},
    "В": {"год": "2024", "черновик": True, "печать": {"место": "Казань"}},
}


@pytest.fixture
async def names(app: App) -> dict[str, str]:
    base = await app.bases.create(scope_of(LOCAL_PRINCIPAL), name="Полка")
    scope = scope_of(LOCAL_PRINCIPAL, base.base_id)
    names = {}
    for name, metadata in DOCUMENTS.items():
        document = await app.documents.add_text(
            scope, base.base_id, title=name, content=f"{TEXT} Вариант {name}.", metadata=metadata
        )
        names[document.document_id] = name
    await app.jobs.idle()
    return names


def field(name: str, **test: Any) -> dict[str, Any]:
    return {"field": name, **test}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (field("год", equals=2024), "Б"),
        (field("год", equals="2024"), "В"),
        (field("год", range={"gte": 2023, "lt": 2024}), "А"),
        (field("отдел", **{"in": ["кадры", "бухгалтерия"]}), "АБ"),
        (field("отдел", exists=False), "В"),
        (field("черновик", equals=True), "В"),
        (field("авторы", equals="Олег"), "Б"),
        (field("печать.место", equals="Казань"), "В"),
        (field("подписан", range={"gte": "2023-01-01", "lte": "2024-01-31"}), "АБ"),
        (field("подписан", range={"gt": "2024-01-31"}), ""),
        (field("@created_at", range={"gte": "2020-01-01"}), "АБВ"),
        (field("@title", equals="А"), "А"),
        ({"and": [field("год", range={"gte": 2000}), {"not": field("отдел", equals="кадры")}]}, "Б"),
        ({"or": [field("черновик", equals=True), field("год", equals=2023)]}, "АВ"),
        ({}, "АБВ"),
    ],
)
async def test_both_ways_of_searching_keep_to_it(
    app: App, http: httpx2.AsyncClient, names: dict[str, str], wanted: dict[str, Any], found: str
) -> None:
    body = {"query": "возмещают проезд", "metadata_filter": wanted, "explain": True}
    response = await http.post("/api/v1/knowledge-search", json=body)
    assert response.status_code == 200, response.text
    assert "".join(sorted(names[one["knowledge_id"]] for one in response.json()["data"])) == found
    if wanted:
        assert response.json()["documents_searched"] == len(found)
        said = "No document fits what the search was limited to." in response.json().get("warnings", ())
        assert said == (not found)
    base_id = (await app.access.document(LOCAL_PRINCIPAL, next(iter(names)))).base_ids[0]
    path = f"/api/v1/knowledge-bases/{base_id}/hybrid-search"
    one_base = await http.post(path, json={"query_text": "возмещают проезд", "metadata_filter": wanted})
    assert "".join(sorted(names[one["knowledge_id"]] for one in one_base.json()["data"])) == found


@pytest.mark.parametrize(
    ("wanted", "at"),
    [
        ({"field": "год"}, "metadata_filter"),
        ({"field": "год", "equals": 1, "exists": True}, "metadata_filter"),
        ({"field": "год", "equals": {"a": 1}}, "metadata_filter.equals"),
        ({"field": "год", "range": {"gte": "вчера"}}, "metadata_filter.range.gte"),
        ({"field": "год", "range": {"gte": 1, "lt": "2024-01-01"}}, "metadata_filter.range"),
        ({"field": "год", "in": []}, "metadata_filter.in"),
        ({"field": "@secret", "exists": True}, "metadata_filter.field"),
        ({"and": [{"field": "a", "exists": True}, {"or": 1}]}, "metadata_filter.and[1].or"),
    ],
)
async def test_a_filter_that_makes_no_sense_is_refused_at_its_place(
    http: httpx2.AsyncClient, wanted: dict[str, Any], at: str
) -> None:
    response = await http.post("/api/v1/knowledge-search", json={"query": "q", "metadata_filter": wanted})
    assert response.status_code == 422
    assert at in response.json()["error"]["message"]


async def test_an_answer_keeps_to_it_and_its_trace_says_so(http: httpx2.AsyncClient, names: dict[str, str]) -> None:
    session = (await http.post("/api/v1/sessions", json={})).json()["data"]["id"]
    body = {"query": "Как возмещают проезд?", "metadata_filter": field("год", equals=2024)}
    await http.post(f"/api/v1/knowledge-chat/{session}", json=body)
    (_, answer) = (await http.get(f"/api/v1/messages/{session}/load")).json()["data"]
    assert {names[one["knowledge_id"]] for one in answer["knowledge_references"]} == {"Б"}
    trace = (await http.get(f"/api/v1/messages/{answer['id']}/trace")).json()["data"]
    assert trace["targets"] == {"documents": 1, "tag_ids": None, "is_filtered": True}


async def test_picked_documents_and_a_filter_leave_what_both_leave(
    http: httpx2.AsyncClient, names: dict[str, str]
) -> None:
    ids = {name: key for key, name in names.items()}
    body = {
        "query": "возмещают проезд",
        "knowledge_ids": [ids["А"], ids["В"]],
        "metadata_filter": field("отдел", exists=True),
    }
    response = await http.post("/api/v1/knowledge-search", json=body)
    assert [names[one["knowledge_id"]] for one in response.json()["data"]] == ["А"]
