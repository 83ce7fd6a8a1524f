"""The registry of models over HTTP, against a provider on loopback."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from opora.bootstrap import App
from opora.bootstrap.models import Models
from opora.domain.errors import Forbidden
from opora.domain.models import ModelKind
from opora.domain.scope import LOCAL_PRINCIPAL, Principal, Scope
from opora.models.scripted import ScriptedChat
from opora.settings import Settings

from .conftest import QUESTION, STRANGER, add_text, client_of, scope_of

PATH = "/api/v1/models"
KEY = "sk-very-secret-key"


class Provider:
    """Answers as its test says; what it was asked and with which keys is kept."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.status = 200
        self.says = "OK"

    async def __call__(self, request: Request) -> Response:
        body = await request.json()
        self.asked.append(body)
        self.keys.append(request.headers.get("authorization", ""))
        if self.status != 200:
            return JSONResponse({"error": {"message": "no"}}, status_code=self.status)
        if request.url.path.endswith("/embeddings"):
            return JSONResponse({"data": [{"index": n, "embedding": [1.0, 2.0]} for n, _ in enumerate(body["input"])]})
        if request.url.path.endswith("/rerank"):
            return JSONResponse(
                {"results": [{"index": 0, "relevance_score": 0.9}, {"index": 1, "relevance_score": 0.1}]}
            )
        return JSONResponse({"choices": [{"message": {"content": self.says}, "finish_reason": "stop"}]})


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    made = Provider()
    paths = ("/v1/embeddings", "/v1/chat/completions", "/v1/rerank")
    routes = [Route(path, made.__call__, methods=["POST"]) for path in paths]
    config = uvicorn.Config(Starlette(routes=routes), host="127.0.0.1", port=0, log_level="critical", lifespan="off")
    server = uvicorn.Server(config)
    config.load()
    server.lifespan = config.lifespan_class(config)
    await server.startup()
    made.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/v1"
    loop = asyncio.create_task(server.main_loop())
    yield made
    server.should_exit = True
    await loop
    await server.shutdown()


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    settings = Settings(data=tmp_path, embedding="none", model_hosts="127.0.0.1")
    opened = await App.open(settings, models=Models(embedder=None, chat=ScriptedChat(["Из настроек."])))
    yield opened
    await opened.close()


async def kept(http: httpx2.AsyncClient, at: Provider, **more: Any) -> dict[str, Any]:
    body = {"type": "chat", "model": "big", "base_url": at.url, **more}
    response = await http.post(PATH, json=body)
    assert response.status_code == 201, response.text
    entry: dict[str, Any] = response.json()["data"]
    return entry


async def answer(http: httpx2.AsyncClient, app: App, **body: Any) -> tuple[str, dict[str, Any]]:
    session_id = (await http.post("/api/v1/sessions", json={"title": "т"})).json()["data"]["id"]
    response = await http.post(f"/api/v1/knowledge-chat/{session_id}", json={"query": QUESTION, **body})
    assert response.status_code == 200, response.text
    events = [json.loads(line[5:]) for line in response.text.splitlines() if line.startswith("data:")]
    said = "".join(event["content"] for event in events if event["response_type"] == "answer")
    messages = (await http.get(f"/api/v1/messages/{session_id}/load")).json()["data"]
    return said, messages[1]


async def test_a_model_is_kept_changed_and_removed(http: httpx2.AsyncClient, provider: Provider) -> None:
    entry = await kept(http, provider, name="Большая", options={"temperature": 0.1})
    assert (entry["name"], entry["model"], entry["has_key"], entry["source"]) == ("Большая", "big", False, "registry")
    changed = await http.put(f"{PATH}/{entry['id']}", json={"name": "Другая", "options": {"seed": 4}})
    assert (changed.json()["data"]["name"], changed.json()["data"]["options"]) == ("Другая", {"seed": 4})
    assert (await http.get(f"{PATH}/{entry['id']}")).json() == changed.json()
    listed = (await http.get(PATH)).json()["data"]
    assert [one["id"] for one in listed if one.get("source") == "registry"] == [entry["id"]]
    assert "scripted" in [one["id"] for one in listed]
    assert (await http.delete(f"{PATH}/{entry['id']}")).json()["data"] == {"id": entry["id"]}
    assert (await http.get(f"{PATH}/{entry['id']}")).status_code == 404


async def test_kinds_and_providers(http: httpx2.AsyncClient) -> None:
    found = {one["type"]: one["providers"] for one in (await http.get(f"{PATH}/types")).json()["data"]}
    assert set(found) == {kind.value for kind in ModelKind}
    assert {"openai", "ollama", "vllm"} <= set(found["chat"])
    assert found["embedding"] == ["openai"]
    assert "cohere" in found["rerank"]


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"provider": "acme"}, "provider"),
        ({"base_url": "file:///etc/passwd"}, "base_url"),
        ({"base_url": "http://user:pass@host/v1"}, "base_url"),
        ({"base_url": "nothing"}, "base_url"),
        ({"model": " "}, "model"),
        ({"type": "image"}, "type"),
        ({"options": {"temperature": 9}}, "temperature"),
        ({"options": {"rerank_top_k": 9}}, "options.rerank_top_k"),
        ({"type": "embedding", "options": {"max_tokens": "many"}}, "options.max_tokens"),
        ({"type": "rerank", "provider": "jina", "options": {"style": "tei"}}, "options.style"),
    ],
)
async def test_what_is_refused(http: httpx2.AsyncClient, more: dict[str, Any], field: str) -> None:
    body = {"type": "chat", "model": "m", "base_url": "https://host.example/v1", **more}
    response = await http.post(PATH, json=body)
    assert (response.status_code, response.json()["error"]["details"]["field"]) == (422, field)


async def test_a_key_is_written_and_never_read(
    app: App, http: httpx2.AsyncClient, provider: Provider, tmp_path: Path
) -> None:
    entry = await kept(http, provider)
    given = await http.put(f"{PATH}/{entry['id']}/key", json={"key": KEY})
    assert given.json()["data"]["has_key"] is True
    for path in (PATH, f"{PATH}/{entry['id']}", "/api/v1/system/info"):
        assert KEY not in (await http.get(path)).text
    with sqlite3.connect(tmp_path / "opora.db") as database:
        dumped = "\n".join(database.iterdump())
    database.close()
    assert "model_keys" in dumped
    assert KEY not in dumped
    assert (await http.post(f"{PATH}/{entry['id']}/test")).json()["data"]["ok"] is True
    assert provider.keys == [f"Bearer {KEY}"]
    taken = await http.delete(f"{PATH}/{entry['id']}/key")
    assert taken.json()["data"]["has_key"] is False
    await http.post(f"{PATH}/{entry['id']}/test")
    assert provider.keys[-1] == ""
    for bad in ("", "x" * 5_000, "ключ", "a\nb"):
        assert (await http.put(f"{PATH}/{entry['id']}/key", json={"key": bad})).status_code == 422


async def test_a_key_does_not_follow_to_another_address(http: httpx2.AsyncClient, provider: Provider) -> None:
    entry = await kept(http, provider)
    await http.put(f"{PATH}/{entry['id']}/key", json={"key": KEY})
    same = await http.put(f"{PATH}/{entry['id']}", json={"base_url": f"{provider.url}/", "name": "та же"})
    assert same.json()["data"]["has_key"] is True
    moved = await http.put(f"{PATH}/{entry['id']}", json={"base_url": "https://attacker.example/v1"})
    assert moved.json()["data"]["has_key"] is False


async def test_a_lost_key_file_is_told(app: App, http: httpx2.AsyncClient, provider: Provider, tmp_path: Path) -> None:
    entry = await kept(http, provider)
    await http.put(f"{PATH}/{entry['id']}/key", json={"key": KEY})
    (tmp_path / "secret.key").unlink()
    app.registry._secrets._fernet = None  # type: ignore[attr-defined]
    tried = (await http.post(f"{PATH}/{entry['id']}/test")).json()["data"]
    assert tried["ok"] is False
    assert "key file" in tried["detail"]
    assert provider.asked == []


@pytest.mark.parametrize(
    ("more", "detail"),
    [
        ({}, "It answered: OK"),
        ({"type": "embedding", "options": {"query_prefix": "query: "}}, "Its vectors have 2 numbers."),
        ({"type": "rerank", "provider": "jina"}, "Scores: 0.900, 0.100"),
    ],
)
async def test_each_kind_is_tried_by_a_real_call(
    http: httpx2.AsyncClient, provider: Provider, more: dict[str, Any], detail: str
) -> None:
    entry = await kept(http, provider, **more)
    tried = (await http.post(f"{PATH}/{entry['id']}/test")).json()["data"]
    assert (tried["ok"], tried["detail"], tried["hint"]) == (True, detail, "")
    assert provider.asked[0]["model"] == "big"


async def test_a_failing_model_is_told_with_words_that_fit(http: httpx2.AsyncClient, provider: Provider) -> None:
    provider.status = 401
    entry = await kept(http, provider)
    tried = (await http.post(f"{PATH}/{entry['id']}/test")).json()["data"]
    assert (tried["ok"], tried["hint"]) == (False, "Check the model's key.")
    assert "401" in tried["detail"]


async def test_inner_addresses_need_the_setting(tmp_path: Path, provider: Provider) -> None:
    app = await App.open(Settings(data=tmp_path / "x", embedding="none"))
    async with client_of(app) as http:
        entry = await kept(http, provider)
        tried = (await http.post(f"{PATH}/{entry['id']}/test")).json()["data"]
    await app.close()
    assert tried["ok"] is False
    assert "OPORA_MODEL_HOSTS" in tried["hint"]
    assert provider.asked == []


async def test_a_model_is_chosen_for_one_question(app: App, http: httpx2.AsyncClient, provider: Provider) -> None:
    await add_text(app, LOCAL_PRINCIPAL)
    entry = await kept(http, provider, options={"temperature": 0.7, "seed": 3})
    provider.says = "Из реестра."
    said, _ = await answer(http, app, summary_model_id=entry["id"], settings={"seed": 5})
    assert said == "Из реестра."
    assert [(asked["temperature"], asked.get("seed")) for asked in provider.asked] == [(0.0, None), (0.7, 5)]
    assert (await answer(http, app))[0] == "Из настроек."
    assert (await answer(http, app, summary_model_id="scripted"))[0] == "Из настроек."
    quoted, message = await answer(http, app, summary_model_id="extractive")
    assert quoted.startswith("> ")
    assert message["extractive"] is True
    assert len(provider.asked) == 2


async def test_a_smaller_model_understands_and_the_chat_model_steps_in(
    app: App, http: httpx2.AsyncClient, provider: Provider
) -> None:
    await add_text(app, LOCAL_PRINCIPAL)
    entry = await kept(http, provider)
    provider.says = json.dumps({"rewrite_query": "Когда возмещают проезд в командировке?", "intent": "kb_search"})
    said, message = await answer(http, app, query_understand_model_id=entry["id"])
    assert said == "Из настроек."
    assert len(provider.asked) == 1
    assert message["warnings"] == [one for one in message["warnings"] if "understanding" not in one]
    provider.status = 500
    said, message = await answer(http, app, query_understand_model_id=entry["id"])
    assert said == "Из настроек."
    assert any("understanding questions failed" in one for one in message["warnings"])


@pytest.mark.parametrize("field", ["summary_model_id", "query_understand_model_id"])
async def test_what_can_not_be_chosen(app: App, http: httpx2.AsyncClient, provider: Provider, field: str) -> None:
    session_id = (await http.post("/api/v1/sessions")).json()["data"]["id"]
    vectors = await kept(http, provider, type="embedding")
    theirs = await app.registry.add(
        Scope(principal=Principal(tenant_id=STRANGER.tenant_id, user_id="a", is_admin=True)),
        kind=ModelKind.CHAT, provider="openai", name="", model="m", base_url=provider.url,
    )  # fmt: skip
    for model_id, status in ((vectors["id"], 422), (theirs.model_id, 404), ("no-such", 404)):
        path = f"/api/v1/knowledge-chat/{session_id}"
        response = await http.post(path, json={"query": QUESTION, field: model_id})
        assert response.status_code == status
    assert (await http.get(f"/api/v1/messages/{session_id}/load")).json()["data"] == []


async def test_a_changed_model_is_used_as_it_is_now(app: App, http: httpx2.AsyncClient, provider: Provider) -> None:
    entry = await kept(http, provider)
    await http.post(f"{PATH}/{entry['id']}/test")
    await http.put(f"{PATH}/{entry['id']}", json={"model": "bigger"})
    await http.post(f"{PATH}/{entry['id']}/test")
    assert [asked["model"] for asked in provider.asked] == ["big", "bigger"]


async def test_only_administrators_change_models(app: App, provider: Provider) -> None:
    registry = app.registry
    entry = await registry.add(
        scope_of(LOCAL_PRINCIPAL), kind=ModelKind.CHAT, provider="openai", name="", model="m", base_url=provider.url
    )
    member = Scope(principal=Principal(tenant_id=LOCAL_PRINCIPAL.tenant_id, user_id="member"))
    assert (await registry.get(member, entry.model_id)) == entry
    for call in (
        registry.update(member, entry.model_id, {"name": "x"}),
        registry.delete(member, entry.model_id),
        registry.set_key(member, entry.model_id, "k"),
        registry.test(member, entry.model_id),
        registry.add(member, kind=ModelKind.CHAT, provider="openai", name="", model="m", base_url=provider.url),
    ):
        with pytest.raises(Forbidden):
            await call
    assert (await registry.chosen(member, entry.model_id)).model is not None
