"""Settings of a tenant, its own prompts, and agents: what each changes of an answer, and who is told."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from opora.bootstrap import App, Models
from opora.domain.agents import QUICK_ANSWER
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.models.scripted import ScriptedChat
from opora.settings import Settings

from .conftest import add_text, client_of

TENANT = f"/api/v1/tenants/{LOCAL_PRINCIPAL.tenant_id}"
QUESTION = "Как возмещают расходы на проезд?"
Opened = tuple[App, httpx2.AsyncClient, ScriptedChat]


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Opened]:
    """An application with one document and a chat model that notes what it was asked."""
    chat = ScriptedChat(["Ответ."])
    app = await App.open(Settings(data=tmp_path, embedding="none"), models=Models(embedder=None, chat=chat))
    await add_text(app, LOCAL_PRINCIPAL)
    async with client_of(app) as http:
        yield app, http, chat
    await app.close()


async def answered(http: httpx2.AsyncClient, **body: Any) -> dict[str, Any]:
    """The stored answer to a question, with its trace."""
    session = (await http.post("/api/v1/sessions", json={"title": "t"})).json()["data"]["id"]
    response = await http.post(f"/api/v1/knowledge-chat/{session}", json={"query": QUESTION, **body})
    assert response.status_code == 200, response.text
    (_, answer) = (await http.get(f"/api/v1/messages/{session}/load")).json()["data"]
    trace = (await http.get(f"/api/v1/messages/{answer['id']}/trace")).json()["data"]
    return dict(answer) | {"trace": trace}


async def agent(http: httpx2.AsyncClient, **body: Any) -> dict[str, Any]:
    response = await http.post("/api/v1/agents", json={"name": "Юрист", **body})
    assert response.status_code == 201, response.text
    return dict(response.json()["data"])


def set_by(answer: dict[str, Any], name: str) -> tuple[Any, str]:
    told = answer["trace"]["settings"][name]
    return told["value"], told["origin"]


async def test_numbers_of_the_tenant_apply_until_the_agent_and_the_request_say_otherwise(opened: Opened) -> None:
    _, http, _ = opened
    put = await http.put(f"{TENANT}/retrieval-config", json={"settings": {"rerank_top_k": 7, "max_rounds": 2}})
    assert put.json()["data"]["own"] == {"rerank_top_k": 7, "max_rounds": 2}
    told = (await http.get(f"{TENANT}/retrieval-config")).json()["data"]["settings"]
    assert (told["rerank_top_k"], told["rrf_k"]) == (
        {"value": 7, "origin": "tenant"},
        {"value": 60, "origin": "default"},
    )
    mine = await agent(http, settings={"max_rounds": 3})
    answer = await answered(http)
    assert (set_by(answer, "rerank_top_k"), set_by(answer, "max_rounds")) == ((7, "tenant"), (2, "tenant"))
    answer = await answered(http, agent_id=mine["id"])
    assert (set_by(answer, "rerank_top_k"), set_by(answer, "max_rounds")) == ((7, "tenant"), (3, "agent"))
    answer = await answered(http, agent_id=mine["id"], settings={"max_rounds": 4})
    assert set_by(answer, "max_rounds") == (4, "request")
    back = await http.put(f"{TENANT}/retrieval-config", json={"settings": {"rerank_top_k": None}})
    assert back.json()["data"]["own"] == {"max_rounds": 2}


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"rerank_top_k": 0}, "rerank_top_k"),
        ({"rerank_topk": 5}, "rerank_topk"),
        ({"vector_weight": 0, "keyword_weight": 0}, "vector_weight"),
        ({"profile": "best"}, "profile"),
        ({"rerank_threshold": 2}, "rerank_threshold"),
        ({"no_such": None}, "no_such"),
    ],
)
async def test_numbers_that_make_no_sense_are_refused_and_nothing_is_kept(
    opened: Opened, settings: dict[str, Any], field: str
) -> None:
    _, http, _ = opened
    for response in (
        await http.put(f"{TENANT}/retrieval-config", json={"settings": settings}),
        await http.post("/api/v1/agents", json={"name": "x", "settings": settings}),
    ):
        assert (response.status_code, field in response.text) == (422, True), response.text
    assert (await http.get(f"{TENANT}/retrieval-config")).json()["data"]["own"] == {}


async def test_a_preview_says_what_would_change_and_keeps_nothing(opened: Opened) -> None:
    _, http, _ = opened
    body = {"query": "расходы на проезд", "settings": {"keyword_threshold": 1.0}}
    preview = (await http.post(f"{TENANT}/retrieval-config/preview", json=body)).json()["data"]
    assert preview["now"]
    assert {one["chunk_id"] for one in preview["changes"]} <= {one["chunk_id"] for one in preview["now"]}
    assert (await http.get(f"{TENANT}/retrieval-config")).json()["data"]["own"] == {}
    same = (await http.post(f"{TENANT}/retrieval-config/preview", json=body | {"settings": {}})).json()["data"]
    assert (same["changes"], same["now"]) == ([], same["proposed"])


async def test_own_texts_stand_in_the_place_of_built_in_ones_and_an_agents_above_them(opened: Opened) -> None:
    _, http, chat = opened
    put = await http.put(f"{TENANT}/prompt-templates/grounded", json={"text": "Отвечай стихами. {language}"})
    assert put.json()["data"]["own_text"] == "Отвечай стихами. {language}"
    await http.put(f"{TENANT}/prompt-templates/passages", json={"text": "Вот: {contexts}\nВопрос: {{query}}"})
    await answered(http)
    system, *_, user = chat.asked[-1]
    assert system.content.startswith("Отвечай стихами. русский")
    assert user.content.startswith("Вот: ")
    assert f"Вопрос: {QUESTION}" in user.content
    mine = await agent(http, prompts={"grounded": "Отвечай прозой."})
    await answered(http, agent_id=mine["id"])
    assert chat.asked[-1][0].content.startswith("Отвечай прозой.")
    assert chat.asked[-1][-1].content.startswith("Вот: ")
    reset = await http.delete(f"{TENANT}/prompt-templates/grounded")
    assert reset.json()["data"]["own_text"] == ""
    await answered(http)
    assert "стихами" not in chat.asked[-1][0].content


async def test_own_texts_of_rewriting_and_fallback_are_used(opened: Opened) -> None:
    _, http, chat = opened
    await http.put(f"{TENANT}/prompt-templates/rewrite_system", json={"text": "ПЕРЕПИШИ"})
    await http.put(f"{TENANT}/prompt-templates/rewrite_user", json={"text": "Что: {query}"})
    await http.put(f"{TENANT}/prompt-templates/fallback_response", json={"text": "Ничего нет."})
    await answered(http)
    assert [message.content for message in chat.asked[0]] == ["ПЕРЕПИШИ", f"Что: {QUESTION}"]
    answer = await answered(http, query="Сколько весит жираф?")
    assert (answer["content"], answer["finish"]) == ("Ничего нет.", "nothing_found")


async def test_templates_are_listed_with_what_they_need_and_previewed(opened: Opened) -> None:
    _, http, _ = opened
    listed = {one["id"]: one for one in (await http.get(f"{TENANT}/prompt-templates")).json()["data"]}
    assert listed["passages"]["required_placeholders"] == ["contexts", "query"]
    assert set(listed["grounded"]["texts"]) == {"ru", "en", "zh"}
    assert (listed["keywords_user"]["can_change"], listed["grounded"]["can_change"]) == (False, True)
    one = (await http.get(f"{TENANT}/prompt-templates/greeting")).json()["data"]
    assert one == listed["greeting"]
    body = {"text": "{query} / {{contexts}} / {any text}", "values": {"query": "Q"}}
    shown = (await http.post(f"{TENANT}/prompt-templates/passages/preview", json=body)).json()["data"]["text"]
    assert shown.startswith("Q / <context id=")
    assert shown.endswith(" / {any text}")


@pytest.mark.parametrize(
    ("template", "text", "status", "word"),
    [
        ("passages", "Без ничего", 422, "contexts"),
        ("rewrite_user", "Без вопроса", 422, "query"),
        ("grounded", "  ", 422, "text"),
        ("grounded", "Отвечай на {langauge}.", 422, "{langauge}"),
        ("passages", "{query} {contexts} {{no_such}}", 422, "{no_such}"),
        ("session_title", "Свой", 422, "not changed"),
        ("no_such", "Текст", 404, "template"),
    ],
)
async def test_texts_that_could_not_work_are_refused(
    opened: Opened, template: str, text: str, status: int, word: str
) -> None:
    _, http, _ = opened
    response = await http.put(f"{TENANT}/prompt-templates/{template}", json={"text": text})
    assert response.status_code == status
    if status == 422:
        assert word in response.text
        refused = await http.post("/api/v1/agents", json={"name": "x", "prompts": {template: text}})
        assert refused.status_code == 422


async def test_an_agent_chooses_bases_and_a_request_chooses_others(opened: Opened) -> None:
    app, http, _ = opened
    base_id, document_id = await add_text(app, LOCAL_PRINCIPAL, title="Вторая")
    mine = await agent(http, knowledge_base_ids=[base_id])
    answer = await answered(http, agent_id=mine["id"])
    assert {one["knowledge_id"] for one in answer["knowledge_references"]} == {document_id}
    (other, *_) = [one for one in (await app.access.bases(LOCAL_PRINCIPAL)).base_ids if one != base_id]
    answer = await answered(http, agent_id=mine["id"], knowledge_base_ids=[other])
    assert document_id not in {one["knowledge_id"] for one in answer["knowledge_references"]}
    free = await agent(http, name="Собеседник", knowledge_base_ids=[])
    assert (await answered(http, agent_id=free["id"]))["knowledge_references"] == []


async def test_bases_of_an_agent_that_are_gone_are_told(opened: Opened) -> None:
    """An answer that stands on nothing must not look like one that found nothing."""
    app, http, _ = opened
    (first,) = (await app.access.bases(LOCAL_PRINCIPAL)).base_ids
    second, _ = await add_text(app, LOCAL_PRINCIPAL, title="Вторая")
    mine = await agent(http, knowledge_base_ids=[first, second])
    await http.delete(f"/api/v1/knowledge-bases/{second}")
    answer = await answered(http, agent_id=mine["id"])
    assert answer["knowledge_references"]
    assert "1 of the knowledge bases of the agent 'Юрист' are gone." in answer["trace"]["warnings"]
    session = (await http.post("/api/v1/sessions", json={})).json()["data"]["id"]
    await http.post(f"/api/v1/knowledge-chat/{session}", json={"query": QUESTION, "agent_id": mine["id"]})
    (_, asked) = (await http.get(f"/api/v1/messages/{session}/load")).json()["data"]
    await http.delete(f"/api/v1/knowledge-bases/{first}")
    body = {"query": QUESTION, "agent_id": mine["id"]}
    for path, sent in ((f"knowledge-chat/{session}", body), (f"messages/{asked['id']}/regenerate", {})):
        refused = await http.post(f"/api/v1/{path}", json=sent)
        assert (refused.status_code, "'Юрист' are gone" in refused.text) == (409, True), refused.text
    assert len((await http.get(f"/api/v1/messages/{session}/load")).json()["data"]) == 2, "nothing is lost"


async def test_an_agent_chat_asks_the_built_in_agent_where_none_is_named(opened: Opened) -> None:
    _, http, _ = opened
    mine = await agent(http, settings={"max_rounds": 3})
    for sent, chosen in (({"agent_enabled": True}, QUICK_ANSWER), ({"agent_id": mine["id"]}, mine["id"])):
        session = (await http.post("/api/v1/sessions", json={})).json()["data"]["id"]
        response = await http.post(f"/api/v1/agent-chat/{session}", json={"query": QUESTION, **sent})
        assert response.status_code == 200
        state = (await http.get(f"/api/v1/sessions/{session}")).json()["data"]["last_request_state"]
        assert state["agent_id"] == chosen


async def test_weights_that_come_to_nothing_from_several_layers_are_told_by_their_layers(opened: Opened) -> None:
    _, http, _ = opened
    await http.put(f"{TENANT}/retrieval-config", json={"settings": {"vector_weight": 0}})
    mine = await agent(http, settings={"keyword_weight": 0})
    session = (await http.post("/api/v1/sessions", json={})).json()["data"]["id"]
    for body, layer in (({"agent_id": mine["id"]}, "agent"), ({"settings": {"keyword_weight": 0}}, "request")):
        refused = await http.post(f"/api/v1/knowledge-chat/{session}", json={"query": QUESTION, **body})
        assert refused.status_code == 422
        assert f"'vector_weight' by the tenant, 'keyword_weight' by the {layer}" in refused.text
    await answered(http, agent_id=mine["id"], settings={"keyword_weight": 0.3})


async def test_an_agent_is_copied_under_a_name_of_its_own(opened: Opened) -> None:
    _, http, _ = opened
    mine = await agent(http, settings={"temperature": 0.1}, knowledge_base_ids=[])
    first = await http.post(f"/api/v1/agents/{mine['id']}/copy")
    second = await http.post(f"/api/v1/agents/{first.json()['data']['id']}/copy")
    named = await http.post(f"/api/v1/agents/{QUICK_ANSWER}/copy", json={"name": "Свой"})
    made = [response.json()["data"] for response in (first, second, named)]
    assert [one["name"] for one in made] == ["Юрист (2)", "Юрист (3)", "Свой"]
    same = ("settings", "prompts", "knowledge_base_ids", "summary_model_id")
    assert all(one[name] == mine[name] for one in made[:2] for name in same)
    assert (made[2]["is_builtin"], len({one["id"] for one in made})) == (False, 3)


async def test_an_agent_chooses_its_model_and_names_none_that_is_not_there(opened: Opened) -> None:
    _, http, chat = opened
    quotes = await agent(http, name="Цитатник", summary_model_id="extractive")
    chat.asked.clear()
    assert (await answered(http, agent_id=quotes["id"]))["extractive"]
    assert chat.asked == []
    for model in ("summary_model_id", "query_understand_model_id", "vlm_model_id"):
        refused = await http.post("/api/v1/agents", json={"name": "Без модели", model: "no-such-model"})
        assert refused.status_code == 404
    named = {"name": "Без модели", "settings": {"rerank_model_id": "no-such-model"}}
    assert (await http.post("/api/v1/agents", json=named)).status_code == 404


async def test_a_model_that_an_agent_names_is_kept_until_the_agent_lets_it_go(opened: Opened) -> None:
    app, http, _ = opened
    entry = {"type": "chat", "model": "m", "name": "Малая", "base_url": "https://models.example/v1"}
    model_id = (await http.post("/api/v1/models", json=entry)).json()["data"]["id"]
    mine = await agent(http, summary_model_id=model_id)
    refused = await http.delete(f"/api/v1/models/{model_id}")
    assert (refused.status_code, "Юрист" in refused.text) == (409, True)
    tenant = await app.access.tenant(LOCAL_PRINCIPAL)
    async with app._database.begin() as stored:
        await stored.models.delete(tenant, model_id)
    session = (await http.post("/api/v1/sessions", json={})).json()["data"]["id"]
    asked = await http.post(f"/api/v1/knowledge-chat/{session}", json={"query": QUESTION, "agent_id": mine["id"]})
    assert (asked.status_code, "A model of the agent 'Юрист' is gone" in asked.text) == (409, True)
    free = await http.put(f"/api/v1/agents/{mine['id']}", json={"summary_model_id": ""})
    assert free.status_code == 200
    assert (await answered(http, agent_id=mine["id"]))["finish"] == "complete"


async def test_agents_are_listed_changed_and_deleted_and_the_built_in_one_stays(opened: Opened) -> None:
    _, http, _ = opened
    mine = await agent(http, description="О договорах", settings={"temperature": 0.1})
    listed = (await http.get("/api/v1/agents")).json()["data"]
    assert [one["id"] for one in listed] == [QUICK_ANSWER, mine["id"]]
    assert (await http.get(f"/api/v1/agents/{QUICK_ANSWER}")).json()["data"]["is_builtin"]
    changed = (await http.put(f"/api/v1/agents/{mine['id']}", json={"name": "Кадровик"})).json()["data"]
    assert (changed["name"], changed["description"], changed["settings"]) == (
        "Кадровик",
        "О договорах",
        {"temperature": 0.1},
    )
    for response in (
        await http.put(f"/api/v1/agents/{QUICK_ANSWER}", json={"name": "x"}),
        await http.delete(f"/api/v1/agents/{QUICK_ANSWER}"),
    ):
        assert response.status_code == 422
    assert (await answered(http, agent_id=QUICK_ANSWER))["finish"] == "complete"
    session = (await http.post("/api/v1/sessions", json={})).json()["data"]["id"]
    await http.post(f"/api/v1/knowledge-chat/{session}", json={"query": QUESTION, "agent_id": mine["id"]})
    state = (await http.get(f"/api/v1/sessions/{session}")).json()["data"]["last_request_state"]
    assert state["agent_id"] == mine["id"]
    assert (await http.delete(f"/api/v1/agents/{mine['id']}")).status_code == 200
    asked = await http.post(f"/api/v1/knowledge-chat/{session}", json={"query": QUESTION, "agent_id": mine["id"]})
    assert asked.status_code == 404
    assert len((await http.get(f"/api/v1/messages/{session}/load")).json()["data"]) == 2, "what it answered stays"


async def test_settings_of_another_tenant_look_like_none(opened: Opened) -> None:
    _, http, _ = opened
    for path in ("retrieval-config", "prompt-templates", "prompt-templates/grounded"):
        assert (await http.get(f"/api/v1/tenants/somebody/{path}")).status_code == 404


async def test_a_search_uses_the_numbers_of_the_tenant(opened: Opened) -> None:
    _, http, _ = opened
    body = {"query": "расходы проезд жираф", "mode": "fulltext"}
    before = (await http.post("/api/v1/knowledge-search", json=body)).json()["data"]
    assert before
    await http.put(f"{TENANT}/retrieval-config", json={"settings": {"keyword_threshold": 0.0}})
    assert len((await http.post("/api/v1/knowledge-search", json=body)).json()["data"]) >= len(before)
