"""Models of the registry by the names of OpenAI's clients: the official client, unchanged, against a real server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import openai
import pytest
from tests.servers.models import ModelServer, serving_models

from opora.bootstrap import App
from opora.bootstrap.models import Models
from opora.chat.registry import ModelRegistry
from opora.domain.models import ModelEntry, ModelKind
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.models.scripted import ScriptedChat
from opora.settings import Settings

from .conftest import QUESTION, add_text, scope_of, serving

ASKED: list[Any] = [{"role": "user", "content": QUESTION}]


@pytest.fixture
async def provider() -> AsyncIterator[ModelServer]:
    async with serving_models(ModelServer(words={"проезд": 0}, says="Из реестра.", rank={"да": 0.9})) as server:
        yield server


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    settings = Settings(data=tmp_path, embedding="none", model_hosts="127.0.0.1", retrieval={"enable_rewrite": False})
    opened = await App.open(settings, models=Models(embedder=None, chat=ScriptedChat(["Из настроек."])))
    yield opened
    await opened.close()


@pytest.fixture
async def client(app: App) -> AsyncIterator[openai.AsyncOpenAI]:
    async with (
        serving(app) as http,
        openai.AsyncOpenAI(base_url=f"{http.base_url}/v1".replace("//v1", "/v1"), api_key="x", max_retries=0) as made,
    ):
        yield made


async def kept(registry: ModelRegistry, at: ModelServer, kind: ModelKind = ModelKind.CHAT, **more: Any) -> ModelEntry:
    provider = "jina" if kind is ModelKind.RERANK else "openai"
    values = {"name": "", "model": "big", "base_url": at.url} | more
    return await registry.add(scope_of(LOCAL_PRINCIPAL), kind=kind, provider=provider, **values)


async def said(client: openai.AsyncOpenAI, model: str, **more: Any) -> str:
    answer = await client.chat.completions.create(model=model, messages=ASKED, **more)
    return answer.choices[0].message.content or ""


async def test_a_chat_model_stands_before_the_bases(
    app: App, client: openai.AsyncOpenAI, provider: ModelServer
) -> None:
    base_id, _ = await add_text(app, LOCAL_PRINCIPAL)
    entry = await kept(app.registry, provider, name="llama3:8b", options={"temperature": 0.9})
    assert await said(client, "opora") == "Из настроек."
    for model in ("llama3:8b@opora", f"{entry.model_id}@opora", "llama3:8b@opora:База", f"llama3:8b@opora:{base_id}"):
        assert await said(client, model) == "Из реестра.", model
    assert await said(client, "llama3:8b@opora", extra_headers={"X-Knowledge-Base-IDs": base_id}) == "Из реестра."
    assert {asked["temperature"] for asked in provider.chats} == {0.9}
    assert await said(client, "llama3:8b@opora", temperature=0.1) == "Из реестра."
    assert provider.chats[-1]["temperature"] == 0.1
    assert await said(client, "scripted@opora") == "Из настроек."
    assert (await said(client, "extractive@opora")).startswith("> ")


async def test_what_is_no_model(app: App, client: openai.AsyncOpenAI, provider: ModelServer) -> None:
    await kept(app.registry, provider, kind=ModelKind.EMBEDDING, name="векторы")
    for model in ("nothing@opora", "векторы@opora", "@opora", "big", "big@oporas", "scripted@opora:нет такой базы"):
        with pytest.raises(openai.NotFoundError):
            await said(client, model)
    one, other = await kept(app.registry, provider), await kept(app.registry, provider)
    with pytest.raises(openai.BadRequestError) as caught:
        await said(client, "big@opora")
    assert one.model_id in str(caught.value)
    assert await said(client, f"{other.model_id}@opora") == "Из реестра."


async def test_models_of_the_registry_are_listed_as_they_are_named(
    app: App, client: openai.AsyncOpenAI, provider: ModelServer
) -> None:
    await add_text(app, LOCAL_PRINCIPAL)
    twins = [await kept(app.registry, provider) for _ in range(2)]
    await kept(app.registry, provider, name="третья")
    await kept(app.registry, provider, kind=ModelKind.EMBEDDING, name="векторы")
    await kept(app.registry, provider, kind=ModelKind.RERANK, name="судья")
    names = [model.id async for model in client.models.list()]
    assert names == [
        "opora", "opora:База", *(f"{twin.model_id}@opora" for twin in twins), "третья@opora", "векторы", "судья"
    ]  # fmt: skip
    for name in [*names, "третья@opora:База"]:
        assert (await client.models.retrieve(name)).id == name
    for name in names[2:5]:
        assert await said(client, name) == "Из реестра."


async def test_vectors_and_scores_of_models_of_the_registry(
    app: App, client: openai.AsyncOpenAI, provider: ModelServer
) -> None:
    entry = await kept(app.registry, provider, kind=ModelKind.EMBEDDING, name="векторы")
    for model in ("векторы", entry.model_id):
        made = await client.embeddings.create(model=model, input=["Проезд", "иное"])
        assert np.allclose([one.embedding for one in made.data], [[1, 0, 0, 0], [0, 0, 0, 1]])
    with pytest.raises(openai.BadRequestError, match="4 numbers"):
        await client.embeddings.create(model="векторы", input="x", dimensions=7)
    with pytest.raises(openai.NotFoundError):
        await client.embeddings.create(model="judge", input="x")
    await kept(app.registry, provider, kind=ModelKind.RERANK, name="судья")
    body = {"model": "судья", "query": "?", "documents": ["нет", "да"]}
    reply: Any = await client.post("/rerank", body=body, cast_to=object)
    assert [result["index"] for result in reply["results"]] == [1, 0]
