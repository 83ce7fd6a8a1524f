"""Bases that are embedded by models of the registry, and reranking models of it, over HTTP from end to end."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.servers.models import ModelServer, serving_models

from opora.bootstrap import App
from opora.bootstrap.models import Models
from opora.domain.models import ModelKind
from opora.domain.scope import LOCAL_PRINCIPAL, Principal, Scope
from opora.models.null import NullEmbedder
from opora.settings import Settings

from .conftest import STRANGER, client_of, scope_of

ROOT = "/api/v1"
WORDS = {"проезд": 0, "отпуск": 1}
NUMBERS = count(1)
"""Names of bases are kept apart."""


@pytest.fixture
async def one() -> AsyncIterator[ModelServer]:
    async with serving_models(ModelServer(words=WORDS)) as server:
        yield server


@pytest.fixture
async def two() -> AsyncIterator[ModelServer]:
    async with serving_models(ModelServer(words=WORDS, size=6)) as server:
        yield server


def settings(folder: Path) -> Settings:
    return Settings(data=folder, embedding="none", model_hosts="127.0.0.1", retrieval={"enable_rewrite": False})


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    opened = await App.open(settings(tmp_path), models=Models(embedder=NullEmbedder(8), chat=None))
    yield opened
    await opened.close()


async def kept(http: httpx2.AsyncClient, at: ModelServer, **more: Any) -> str:
    body = {"type": "embedding", "model": "m", "base_url": at.url, **more}
    response = await http.post(f"{ROOT}/models", json=body)
    assert response.status_code == 201, response.text
    model_id: str = response.json()["data"]["id"]
    return model_id


async def made(http: httpx2.AsyncClient, model_id: str = "", **more: Any) -> str:
    body = {"name": f"База {next(NUMBERS)}", "embedding_model_id": model_id, **more}
    response = await http.post(f"{ROOT}/knowledge-bases", json=body)
    assert response.status_code == 201, response.text
    base_id: str = response.json()["data"]["id"]
    return base_id


async def filled(app: App, http: httpx2.AsyncClient, model_id: str, content: str, **more: Any) -> str:
    base_id = await made(http, model_id, **more)
    await add(app, base_id, content)
    return base_id


async def add(app: App, base_id: str, content: str) -> Any:
    scope = scope_of(LOCAL_PRINCIPAL, base_id)
    document = await app.documents.add_text(scope, base_id, title="Т", content=content)
    (ready,) = await app.documents.wait(scope, [document.document_id], timeout=30)
    return ready


async def found(http: httpx2.AsyncClient, **body: Any) -> list[dict[str, Any]]:
    response = await http.post(f"{ROOT}/knowledge-search", json={"query": "проезд", **body})
    assert response.status_code == 200, response.text
    results: list[dict[str, Any]] = response.json()["data"]
    return results


async def test_a_base_is_embedded_and_searched_by_its_own_model(
    app: App, http: httpx2.AsyncClient, one: ModelServer
) -> None:
    model_id = await kept(http, one)
    base_id = await filled(app, http, model_id, "Оплата билетов на проезд.")
    base = (await http.get(f"{ROOT}/knowledge-bases/{base_id}")).json()["data"]
    assert base["embedding_model_id"] == model_id
    assert any("Оплата билетов" in text for texts in one.embedded for text in texts)
    one.embedded.clear()
    (result,) = await found(http, knowledge_base_ids=[base_id])
    assert one.embedded == [["проезд"]]
    assert result["content"] == "Оплата билетов на проезд."
    by_meaning = await http.post(
        f"{ROOT}/knowledge-bases/{base_id}/hybrid-search", json={"query_text": "проезд", "disable_keywords_match": True}
    )
    assert [hit["match_type"] for hit in by_meaning.json()["data"]] == [0]
    entry = (await http.get(f"{ROOT}/models/{model_id}")).json()["data"]
    assert entry["dimension"] == 4


async def test_each_model_gets_the_question_once_and_all_bases_are_found(
    app: App, http: httpx2.AsyncClient, one: ModelServer, two: ModelServer
) -> None:
    first, same, other = await kept(http, one), await kept(http, one, name="та же"), await kept(http, two)
    contents = ["Проезд один.", "Проезд два.", "Проезд три.", "Проезд четыре."]
    bases = [await filled(app, http, m, c) for m, c in zip((first, same, other, ""), contents, strict=True)]
    one.embedded.clear()
    two.embedded.clear()
    results = await found(http)
    assert {result["content"] for result in results} == set(contents)
    # Two entries with one name and one address are one model: they share the vector.
    assert (one.embedded, two.embedded) == ([["проезд"]], [["проезд"]])
    assert len(await found(http, match_count=2)) == 2
    mixed = await http.post(
        f"{ROOT}/knowledge-bases/{bases[0]}/hybrid-search",
        json={"query_text": "проезд", "knowledge_base_ids": bases[1:]},
    )
    assert mixed.status_code == 422
    assert "different models" in mixed.json()["error"]["message"]
    alike = await http.post(
        f"{ROOT}/knowledge-bases/{bases[0]}/hybrid-search",
        json={"query_text": "проезд", "knowledge_base_ids": [bases[1]]},
    )
    assert {result["knowledge_base_id"] for result in alike.json()["data"]} == set(bases[:2])


async def test_a_question_is_answered_from_bases_of_several_models(
    app: App, http: httpx2.AsyncClient, one: ModelServer, two: ModelServer
) -> None:
    for server, text in ((one, "Проезд возмещают сразу."), (two, "Проезд возмещают после возвращения.")):
        await filled(app, http, await kept(http, server), text)
    session = (await http.post(f"{ROOT}/sessions")).json()["data"]["id"]
    answer = await http.post(f"{ROOT}/knowledge-chat/{session}", json={"query": "Когда возмещают проезд?"})
    events = [json.loads(line[5:]) for line in answer.text.splitlines() if line.startswith("data:")]
    (references,) = [event["knowledge_references"] for event in events if event["response_type"] == "references"]
    assert len(references) == 2


async def test_a_model_that_is_down_is_no_empty_result(app: App, http: httpx2.AsyncClient, one: ModelServer) -> None:
    base_id = await filled(app, http, await kept(http, one), "Оплата билетов на проезд.")
    one.status = 401
    response = await http.post(f"{ROOT}/knowledge-search", json={"query": "проезд", "knowledge_base_ids": [base_id]})
    assert (response.status_code, response.json()["error"]["details"]["final"]) == (503, True)


async def test_vectors_of_another_size_are_error_2201_with_both_numbers(
    app: App, http: httpx2.AsyncClient, one: ModelServer, tmp_path: Path
) -> None:
    base_id = await filled(app, http, await kept(http, one), "Оплата билетов на проезд.")
    await app.close()
    one.size = 5
    again = await App.open(settings(tmp_path), models=Models(embedder=NullEmbedder(8), chat=None))
    async with AsyncExitStack() as stack:
        stack.push_async_callback(again.close)
        client = await stack.enter_async_context(client_of(again))
        response = await client.post(
            f"{ROOT}/knowledge-search", json={"query": "проезд", "knowledge_base_ids": [base_id]}
        )
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (409, 2201)
    assert (error["details"]["expected"], error["details"]["actual"]) == (4, 5)
    assert "4 numbers" in error["message"]
    assert "now 5" in error["message"]


async def test_a_model_in_use_stays(app: App, http: httpx2.AsyncClient, one: ModelServer, two: ModelServer) -> None:
    model_id = await kept(http, one)
    base_id = await made(http, model_id, name="Поездки")
    refused = await http.delete(f"{ROOT}/models/{model_id}")
    assert refused.status_code == 409
    assert refused.json()["error"]["details"]["knowledge_bases"] == [{"id": base_id, "name": "Поездки"}]
    moved = await http.put(f"{ROOT}/models/{model_id}", json={"base_url": two.url})
    assert moved.status_code == 200, "no vector is lost yet"
    await add(app, base_id, "Оплата билетов на проезд.")
    for change in ({"base_url": one.url}, {"model": "другая"}, {"options": {"passage_prefix": "p: "}}):
        refused = await http.put(f"{ROOT}/models/{model_id}", json=change)
        assert refused.status_code == 409, change
    assert (await http.put(f"{ROOT}/models/{model_id}", json={"name": "Имя"})).status_code == 200
    await http.delete(f"{ROOT}/knowledge-bases/{base_id}")
    assert (await http.delete(f"{ROOT}/models/{model_id}")).status_code == 200


async def test_a_base_takes_another_model_only_while_it_holds_no_vectors(
    app: App, http: httpx2.AsyncClient, one: ModelServer, two: ModelServer
) -> None:
    first, second = await kept(http, one), await kept(http, two)
    base_id = await made(http, first)
    path = f"{ROOT}/knowledge-bases/{base_id}"
    changed = await http.put(path, json={"embedding_model_id": second})
    assert changed.json()["data"]["embedding_model_id"] == second
    await add(app, base_id, "Оплата билетов на проезд.")
    assert one.embedded == []
    refused = await http.put(path, json={"embedding_model_id": first})
    assert refused.status_code == 409
    assert "holds vectors" in refused.json()["error"]["message"]
    assert (await http.put(path, json={"embedding_model_id": second, "name": "та же"})).status_code == 200
    assert (await http.put(path, json={"embedding_model_id": ""})).status_code == 409


async def test_documents_that_waited_for_their_model_are_embedded_by_another_one(
    app: App, http: httpx2.AsyncClient, one: ModelServer, two: ModelServer
) -> None:
    one.status = 500
    first, second = await kept(http, one), await kept(http, two)
    base_id = await made(http, first)
    scope = scope_of(LOCAL_PRINCIPAL, base_id)
    document = await app.documents.add_text(scope, base_id, title="Т", content="Оплата билетов на проезд.")
    changed = await http.put(f"{ROOT}/knowledge-bases/{base_id}", json={"embedding_model_id": second})
    assert changed.status_code == 200, changed.text
    (ready,) = await app.documents.wait(scope, [document.document_id], timeout=60)
    assert (ready.parse_status, ready.embedded_count) == ("completed", 1)
    assert len(await found(http, knowledge_base_ids=[base_id], disable_keywords_match=True)) == 1


async def test_what_can_not_embed_a_base(app: App, http: httpx2.AsyncClient, one: ModelServer) -> None:
    chat = await kept(http, one, type="chat")
    theirs = await app.registry.add(
        Scope(principal=Principal(tenant_id=STRANGER.tenant_id, user_id="a", is_admin=True)),
        kind=ModelKind.EMBEDDING, provider="openai", name="", model="m", base_url=one.url,
    )  # fmt: skip
    base_id = await made(http)
    for model_id, status in ((chat, 422), ("nothing", 404), (theirs.model_id, 404)):
        body = {"name": "База", "embedding_model_id": model_id}
        assert (await http.post(f"{ROOT}/knowledge-bases", json=body)).status_code == status
        changed = await http.put(f"{ROOT}/knowledge-bases/{base_id}", json={"embedding_model_id": model_id})
        assert changed.status_code == status
    assert app.embedder is not None
    own = await made(http, app.embedder.card.identity)
    assert (await http.get(f"{ROOT}/knowledge-bases/{own}")).json()["data"]["embedding_model_id"] == ""


async def test_corrections_and_entries_are_embedded_by_the_model_of_their_base(
    app: App, http: httpx2.AsyncClient, one: ModelServer
) -> None:
    model_id = await kept(http, one)
    base_id = await filled(app, http, model_id, "Оплата билетов на проезд.")
    (chunk,) = await found(http, knowledge_base_ids=[base_id])
    path = f"{ROOT}/chunks/{chunk['knowledge_id']}/{chunk['id']}"
    assert (await http.put(path, json={"content": "Отпуск оплачивают вперёд."})).status_code == 200
    assert ["Отпуск оплачивают вперёд."] in [[text.split("\n")[-1] for text in texts] for texts in one.embedded]
    faq_id = await made(http, model_id, type="faq")
    entry = {"standard_question": "Как получить отпуск?", "answers": ["Написать заявление."]}
    response = await http.post(f"{ROOT}/knowledge-bases/{faq_id}/faq/entry", json=entry)
    assert response.status_code in (200, 201), response.text
    await app.jobs.idle()
    hits = await found(http, query="отпуск", knowledge_base_ids=[faq_id])
    assert len(hits) == 1
    assert ["Как получить отпуск?"] in one.embedded


async def test_own_models_work_without_one_of_the_installation(one: ModelServer, tmp_path: Path) -> None:
    app = await App.open(settings(tmp_path), models=Models(embedder=None, chat=None))
    async with client_of(app) as http:
        base_id = await filled(app, http, await kept(http, one), "Оплата билетов на проезд.")
        await filled(app, http, "", "Проезд словами.")
        assert len(await found(http)) == 2
        by_meaning = {"disable_keywords_match": True}
        assert [hit["knowledge_base_id"] for hit in await found(http, **by_meaning)] == [base_id]
    await app.close()
    again = await App.open(settings(tmp_path), models=Models(embedder=None, chat=None))
    async with client_of(again) as http:
        assert len(await found(http, knowledge_base_ids=[base_id], **by_meaning)) == 1
    await again.close()


RANKED = ["Проезд оплачивают картой.", "Проезд возмещают бухгалтерией.", "Проезд не возмещают."]


async def test_a_reranking_model_of_the_registry_judges_a_search(
    app: App, http: httpx2.AsyncClient, one: ModelServer
) -> None:
    one.rank = {"картой": 0.4, "бухгалтерией": 0.9, "не возмещают": 0.1}
    for text in RANKED:
        await filled(app, http, "", text)
    model_id = await kept(http, one, type="rerank", provider="jina")
    ordered = await found(http, rerank_model_id=model_id)
    assert [result["content"] for result in ordered] == [RANKED[1], RANKED[0]]
    assert len(await found(http, rerank_model_id=model_id, match_count=1)) == 1
    one.status = 500
    response = await http.post(f"{ROOT}/knowledge-search", json={"query": "проезд", "rerank_model_id": model_id})
    assert len(response.json()["data"]) == 3
    assert "Reranking failed" in response.json()["warnings"][0]


async def asked(http: httpx2.AsyncClient, **body: Any) -> tuple[list[str], list[str]]:
    session = (await http.post(f"{ROOT}/sessions")).json()["data"]["id"]
    answer = await http.post(f"{ROOT}/knowledge-chat/{session}", json={"query": "Когда возмещают проезд?", **body})
    assert answer.status_code == 200, answer.text
    message = (await http.get(f"{ROOT}/messages/{session}/load")).json()["data"][1]
    return [one["content"] for one in message["knowledge_references"]], message["warnings"]


@pytest.mark.parametrize("named", [{"rerank_model_id": "{}"}, {"settings": {"rerank_model_id": "{}"}}])
async def test_a_question_names_its_reranking_model(
    app: App, http: httpx2.AsyncClient, one: ModelServer, named: dict[str, Any]
) -> None:
    one.rank = {"картой": 0.4, "бухгалтерией": 0.9, "не возмещают": 0.1}
    for text in RANKED:
        await filled(app, http, "", text)
    model_id = await kept(http, one, type="rerank", provider="jina")
    chosen = json.loads(json.dumps(named).replace("{}", model_id))
    references, warnings = await asked(http, **chosen)
    assert references[0] == RANKED[1]
    assert [len(body["documents"]) for body in one.reranked].count(3) == 1
    assert not warnings
    one.status = 500
    references, warnings = await asked(http, **chosen)
    assert len(references) == 3
    assert any("Reranking failed" in warning for warning in warnings)


async def test_a_tenant_has_a_reranking_model_for_questions_and_searches(
    app: App, http: httpx2.AsyncClient, one: ModelServer
) -> None:
    one.rank = {"картой": 0.4, "бухгалтерией": 0.9, "не возмещают": 0.1}
    for text in RANKED:
        await filled(app, http, "", text)
    model_id = await kept(http, one, type="rerank", provider="jina")
    tenant = LOCAL_PRINCIPAL.tenant_id
    chosen = await http.put(
        f"{ROOT}/tenants/{tenant}/retrieval-config", json={"settings": {"rerank_model_id": model_id}}
    )
    assert chosen.status_code == 200, chosen.text
    assert (await asked(http))[0][0] == RANKED[1]
    assert [result["content"] for result in await found(http)] == [RANKED[1], RANKED[0]]
    await http.delete(f"{ROOT}/models/{model_id}")
    assert any("can't be loaded" in warning for warning in (await asked(http))[1])
    assert len(await found(http)) == 3


async def test_a_reranking_model_that_can_not_be_loaded_costs_a_warning(tmp_path: Path, one: ModelServer) -> None:
    """Named by settings and deleted meanwhile: the results of retrieval stand."""
    chosen = settings(tmp_path).model_copy(update={"retrieval": {"rerank_model_id": "gone", "enable_rewrite": False}})
    app = await App.open(chosen, models=Models(embedder=None, chat=None))
    async with client_of(app) as http:
        await filled(app, http, "", "Проезд возмещают.")
        references, warnings = await asked(http)
        assert references == ["Проезд возмещают."]
        assert any("can't be loaded" in warning for warning in warnings)
        session = (await http.post(f"{ROOT}/sessions")).json()["data"]["id"]
        for model_id, status in (("nothing", 404), (await kept(http, one), 422)):
            for path, body in (
                (f"{ROOT}/knowledge-chat/{session}", {"query": "Когда?"}),
                (f"{ROOT}/knowledge-search", {"query": "Когда?"}),
            ):
                response = await http.post(path, json={**body, "rerank_model_id": model_id})
                assert response.status_code == status
    await app.close()
