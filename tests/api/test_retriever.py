"""``/api/search`` and ``/api/vectorize`` of a whole application."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from opora.bootstrap import App
from opora.domain.knowledge import BaseType
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.ingest.faq_rows import draft_of
from opora.settings import Settings

from .conftest import QUESTION, STRANGER, add_base, add_text, client_of, scope_of

TEXT = """# Командировки

## Возмещение

Расходы на проезд возмещают после возвращения из командировки по билетам.

## Отчёт

Отчёт о командировке сдают за три дня вместе с билетами и чеками.
"""


@pytest.fixture
async def embedded(tmp_path: Path) -> AsyncIterator[App]:
    """With vectors that mean nothing, yet are the same for the same words."""
    opened = await App.open(Settings(data=tmp_path, embedding="null"))
    yield opened
    await opened.close()


@pytest.fixture
async def retriever(embedded: App) -> AsyncIterator[httpx2.AsyncClient]:
    await add_text(embedded, LOCAL_PRINCIPAL, TEXT)
    async with client_of(embedded) as client:
        yield client


async def ask(http: httpx2.AsyncClient, status: int = 200, **body: Any) -> Any:
    response = await http.post("/api/search", json=body)
    assert response.status_code == status, response.text
    return response.json()


@pytest.mark.parametrize(("given", "mode"), [({}, "semantic"), ({"search_type": "hybrid"}, "hybrid")])
async def test_the_default_is_semantic(retriever: httpx2.AsyncClient, given: dict[str, str], mode: str) -> None:
    body = await ask(retriever, query=QUESTION, **given)
    assert (body["query"], body["search_type"]) == (QUESTION, mode)
    assert body["results_count"] == len(body["results"]) > 0
    assert ("search_metadata" in body) is (mode == "hybrid")


async def test_a_piece_has_its_text_source_and_scores(retriever: httpx2.AsyncClient) -> None:
    body = await ask(retriever, query="проезд", search_type="fulltext")
    (piece,) = body["results"]
    assert "Расходы на проезд" in piece["content"]
    assert piece["document"]["title"] == "Проезд"
    assert set(piece["document"]) == {"id", "file_name", "title", "source", "knowledge_base_id"}
    assert set(piece["scores"]) == {"fulltext"}
    assert piece["ranks"] == {"fulltext": 1}
    assert set(piece) == {
        *("chunk_id", "chunk_index", "content", "context", "score", "score_kind", "scores", "ranks"),
        *("metadata", "place", "document"),
    }


@pytest.mark.parametrize(
    ("field", "body"),
    [
        ("query", {}),
        ("query", {"query": " "}),
        ("query", {"query": "ж" * 10_001}),
        ("query", {"query": 5}),
        ("search_type", {"query": "q", "search_type": "fuzzy"}),
        ("search_type", {"query": "q", "search_type": None}),
        ("limit", {"query": "q", "limit": 0}),
        ("limit", {"query": "q", "limit": 51}),
        ("limit", {"query": "q", "limit": "5"}),
        ("min_similarity", {"query": "q", "min_similarity": 2}),
    ],
)
async def test_what_does_not_fit_names_the_field(http: httpx2.AsyncClient, field: str, body: dict[str, Any]) -> None:
    assert (await ask(http, 422, **body))["error"]["details"]["field"] == field


async def test_a_long_question_is_taken(retriever: httpx2.AsyncClient) -> None:
    assert (await ask(retriever, query="ж" * 10_000, search_type="fulltext"))["results"] == []


async def test_without_a_model_words_go_on(app: App, http: httpx2.AsyncClient) -> None:
    await add_text(app, LOCAL_PRINCIPAL, TEXT)
    for mode in ("semantic", "hybrid"):
        failed = await ask(http, 503, query=QUESTION, search_type=mode)
        assert failed["error"]["name"] == "model_not_configured"
        assert failed["error"]["hint"]
    assert (await ask(http, query=QUESTION, search_type="fulltext"))["results_count"] == 1
    response = await http.post("/api/vectorize", json={"query": QUESTION})
    assert response.status_code == 503


async def test_a_question_becomes_a_vector(retriever: httpx2.AsyncClient) -> None:
    body = (await retriever.post("/api/vectorize", json={"query": QUESTION})).json()
    assert body["dimension"] == len(body["vector"])
    assert body["query"] == QUESTION
    assert body["model"]
    assert sum(number * number for number in body["vector"]) == pytest.approx(1.0, abs=1e-5)
    refused = await retriever.post("/api/vectorize", json={"query": ""})
    assert refused.json()["error"]["details"]["field"] == "query"


async def test_only_what_is_the_callers_is_searched(embedded: App, retriever: httpx2.AsyncClient) -> None:
    base_id, document_id = await add_text(embedded, STRANGER, TEXT)
    assert len((await ask(retriever, query="проезд", search_type="fulltext"))["results"]) == 1
    failed = await ask(retriever, 404, query="проезд", knowledge_base_ids=[base_id])
    absent = await ask(retriever, 404, query="проезд", knowledge_base_ids=["0" * 26])
    assert failed == absent
    theirs = await ask(retriever, query="проезд", search_type="fulltext", knowledge_ids=[document_id])
    assert theirs["results"] == []


async def test_a_key_is_asked_for_where_one_is_set(tmp_path: Path) -> None:
    app = await App.open(Settings(data=tmp_path, embedding="none", api_key=SecretStr("sk-1")))
    async with client_of(app) as http:
        for path in ("/api/search", "/api/vectorize"):
            assert (await http.post(path, json={"query": "q"})).status_code == 401
        answered = await http.post("/api/search", json={"query": "q"}, headers={"X-API-Key": "sk-1"})
        assert answered.json()["warnings"] == ["There is no knowledge base to search."]
    await app.close()


@pytest.mark.parametrize("is_on", [True, False])
async def test_neighbours_follow_the_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_on: bool) -> None:
    """Sections that say the same have the same vector under any model."""
    if not is_on:
        monkeypatch.setenv("EXPANSION_ENABLED", "false")
    app = await App.open(Settings(data=tmp_path, embedding="null"))
    await add_text(app, LOCAL_PRINCIPAL, "# Отчёт\n\nБилеты прикладывают к отчёту.\n\n" * 4)
    async with client_of(app) as http:
        body = await ask(http, query="билеты", limit=1)
    await app.close()
    first, *neighbours = body["results"]
    assert bool(neighbours) is is_on
    for one in neighbours:
        assert one["neighbour_of"] == first["chunk_id"]
        assert one["score_kind"] == "neighbour"
        assert one["score"] >= 0.6
    assert body["results_count"] == 1 + len(neighbours) <= 3


HOSTILE = Path(__file__).parents[1] / "cases" / "files" / "engines" / "hostile_queries.json"


async def test_hostile_questions_are_answered_or_refused_by_name(retriever: httpx2.AsyncClient) -> None:
    for query in json.loads(HOSTILE.read_text(encoding="utf-8"))["queries"]:
        for mode in ("fulltext", "hybrid"):
            response = await retriever.post("/api/search", json={"query": query, "search_type": mode})
            body = response.json()
            if response.status_code == 422:
                assert body["error"]["details"]["field"] == "query"
            else:
                assert (response.status_code, body["search_type"]) == (200, mode), query


async def test_a_replaced_document_is_found_in_its_new_words_only(embedded: App, retriever: httpx2.AsyncClient) -> None:
    """By every way of searching, neighbours too, and also after the same document was read once more."""
    base = await add_base(embedded, LOCAL_PRINCIPAL, "Замена")
    scope = scope_of(LOCAL_PRINCIPAL, base.base_id)

    async def put(text: str) -> str:
        document = await embedded.documents.add_file(
            scope, base.base_id, file_name="doc.md", data=text.encode(), source="/doc", replace=True
        )
        await embedded.documents.wait(scope, [document.document_id], timeout=30)
        return document.document_id

    async def everything() -> str:
        found = []
        for mode in ("semantic", "fulltext", "hybrid"):
            body = await ask(
                retriever, query="ALPHA BETA GAMMA", search_type=mode, knowledge_base_ids=[base.base_id], limit=50
            )
            found.append({one["content"] for one in body["results"]})
        assert found[0] == found[1] == found[2], "each way finds all that is there"
        return "\n".join(sorted(found[0]))

    await put("# Первое\n\nALPHA-OLD здесь.\n\n# Второе\n\nBETA-OLD там.")
    assert "ALPHA-OLD" in await everything()
    document_id = await put("# Третье\n\nGAMMA-NEW теперь.")
    after = await everything()
    assert "GAMMA-NEW" in after
    assert "OLD" not in after
    await embedded.addresses.read_again(scope, document_id)
    await embedded.documents.wait(scope, [document_id], timeout=30)
    assert await everything() == after
    await embedded.documents.delete(scope, document_id)
    assert await everything() == ""


@pytest.mark.parametrize("mode", ["semantic", "fulltext", "hybrid"])
async def test_an_entry_is_found_by_its_questions_and_silent_on_those_it_must_not_answer(
    embedded: App, retriever: httpx2.AsyncClient, mode: str
) -> None:
    base = await embedded.bases.create(scope_of(LOCAL_PRINCIPAL), name="Вопросы", base_type=BaseType.FAQ)
    scope = scope_of(LOCAL_PRINCIPAL, base.base_id)
    entry = {
        "standard_question": "Как вернуть товар?",
        "similar_questions": "Возврат товара",
        "negative_questions": "Как вернуть товар по гарантии?",
        "answers": "Заполните форму.",
    }
    record = await embedded.faq.create(scope, base.base_id, draft_of(entry))
    await embedded.jobs.idle()
    asked = {"search_type": mode, "knowledge_base_ids": [base.base_id]}
    (found,) = (await ask(retriever, query="Возврат товара", **asked))["results"]
    assert found["chunk_id"] == record.entry_id
    assert "Заполните форму." in found["content"]
    assert (await ask(retriever, query="как вернуть товар по гарантии?", **asked))["results"] == []
