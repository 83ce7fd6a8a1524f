"""The official client of OpenAI's API, unchanged, against a real server."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import openai
import pytest

from opora.bootstrap import App
from opora.bootstrap.models import Models
from opora.domain.errors import ModelError
from opora.models.null import NullEmbedder
from opora.models.scripted import ScriptedChat
from opora.ports import ChatDelta, Page, RerankerCard
from opora.settings import Settings

from .conftest import PASSAGE, QUESTION, STRANGER, GatedChat, add_text, scope_of, serving

Client = openai.AsyncOpenAI
KEY = "secret-key"
ASKED: list[Any] = [{"role": "user", "content": QUESTION}]


class Lengths:
    """A reranker that likes long passages."""

    card = RerankerCard(identity="lengths")

    async def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        return [min(len(passage) / 100, 1.0) for passage in passages]

    async def close(self) -> None:
        return None


@asynccontextmanager
async def client_of(app: App, key: str = KEY) -> AsyncIterator[Client]:
    async with (
        serving(app) as http,
        Client(base_url=f"{http.base_url}/v1".replace("//v1", "/v1"), api_key=key, max_retries=0) as client,
    ):
        yield client


@asynccontextmanager
async def opened(tmp_path: Path, chat: Any = None, **models: Any) -> AsyncIterator[App]:
    settings = Settings(data=tmp_path, embedding="none", api_key=KEY, retrieval={"enable_rewrite": False})
    app = await App.open(settings, models=Models(**({"embedder": None} | models), chat=chat))
    try:
        yield app
    finally:
        await app.close()


async def key_owner(app: App) -> Any:
    return app.access.authenticate(KEY)


async def test_an_answer_in_one_piece_with_numbered_sources(tmp_path: Path) -> None:
    model = ScriptedChat(["После возвращения", '<ref id="c1"/>', "."])
    async with opened(tmp_path, model) as app, client_of(app) as client:
        base_id, document_id = await add_text(app, await key_owner(app))
        done = await client.chat.completions.create(model="opora", messages=ASKED)
    (choice,) = done.choices
    assert choice.message.content == "После возвращения[1].\n\nИсточники:\n[1] Проезд"
    assert (choice.message.role, choice.finish_reason, done.object) == ("assistant", "stop", "chat.completion")
    assert done.usage is not None
    assert done.usage.total_tokens == done.usage.prompt_tokens + done.usage.completion_tokens > 0
    (citation,) = done.model_extra["citations"]  # type: ignore[index]
    assert (citation["number"], citation["title"]) == (1, "Проезд")
    assert (citation["knowledge_base_id"], citation["knowledge_id"]) == (base_id, document_id)
    assert citation["content"] == PASSAGE
    assert done.model_extra["opora"] == {"finish": "complete", "extractive": False}  # type: ignore[index]


async def test_a_stream_ends_with_its_sources_a_reason_and_the_usage(tmp_path: Path) -> None:
    thought = ChatDelta(thinking="Думаю.")
    model = ScriptedChat([thought, "После ", 'возвращения<ref id="c1"/>', "."])
    async with opened(tmp_path, model) as app, client_of(app) as client:
        await add_text(app, await key_owner(app))
        stream = await client.chat.completions.create(
            model="opora", messages=ASKED, stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]
    *said, last, usage = chunks
    text = "".join(chunk.choices[0].delta.content or "" for chunk in said)
    assert text == "После возвращения[1].\n\nИсточники:\n[1] Проезд"
    assert said[0].choices[0].delta.role == "assistant"
    thinking = [(chunk.choices[0].delta.model_extra or {}).get("reasoning_content", "") for chunk in said]
    assert "".join(thinking) == "Думаю."
    assert [chunk.choices[0].finish_reason for chunk in (*said, last)] == [None] * len(said) + ["stop"]
    assert len(last.model_extra["citations"]) == 1  # type: ignore[index]
    assert usage.choices == []
    assert usage.usage is not None
    assert all(chunk.usage is None for chunk in (*said, last))
    assert len({chunk.id for chunk in chunks}) == 1
    assert {chunk.object for chunk in chunks} == {"chat.completion.chunk"}


async def test_without_being_asked_a_stream_tells_no_usage_and_ends_with_done(tmp_path: Path) -> None:
    async with opened(tmp_path, ScriptedChat(["Да."])) as app, serving(app) as http:
        await add_text(app, await key_owner(app))
        body = {"model": "opora", "messages": ASKED, "stream": True}
        response = await http.post("/v1/chat/completions", json=body, headers={"X-API-Key": KEY})
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.text.endswith("data: [DONE]\n\n")
    assert "usage" not in response.text
    assert "retry:" not in response.text
    assert not any(line.startswith("id:") for line in response.text.splitlines())


async def test_without_a_chat_model_the_answer_is_quotes(tmp_path: Path) -> None:
    async with opened(tmp_path) as app, client_of(app) as client:
        await add_text(app, await key_owner(app))
        done = await client.chat.completions.create(model="opora", messages=ASKED)
    assert done.choices[0].message.content == f"> {PASSAGE} [1]\n\nИсточники:\n[1] Проезд"
    assert done.model_extra["opora"]["extractive"] is True  # type: ignore[index]


async def test_nothing_found_is_said_and_not_made_up(tmp_path: Path) -> None:
    async with opened(tmp_path) as app, client_of(app) as client:
        await add_text(app, await key_owner(app))
        done = await client.chat.completions.create(
            model="opora", messages=[{"role": "user", "content": "zebra crossing"}]
        )
    assert done.model_extra["opora"]["finish"] == "nothing_found"  # type: ignore[index]
    assert done.model_extra["citations"] == []  # type: ignore[index]
    assert "Sources" not in (done.choices[0].message.content or "")


async def test_the_conversation_comes_with_the_request_and_nothing_is_stored(tmp_path: Path) -> None:
    model = ScriptedChat(["Десять."])
    async with opened(tmp_path, model) as app, client_of(app) as client:
        caller = await key_owner(app)
        await add_text(app, caller)
        await client.chat.completions.create(
            model="opora",
            temperature=0.9,
            max_completion_tokens=77,
            messages=[
                {"role": "system", "content": "Отвечай коротко."},
                {"role": "user", "content": "Когда возмещают проезд?"},
                {"role": "assistant", "content": "После возвращения[1].\n\nИсточники:\n[1] Проезд"},
                {"role": "user", "content": [{"type": "text", "text": "Сколько дней на проезд?"}]},
            ],
        )
        listed = await app.sessions.browse(scope_of(caller), Page())
    assert listed.total == 0
    last = model.asked[-1]
    assert "Отвечай коротко." in last[0].content
    assert [message.content for message in last[1:3]] == ["Когда возмещают проезд?", "После возвращения."]
    assert "Сколько дней на проезд?" in last[-1].content


async def test_bases_by_the_name_of_the_model_its_id_or_a_header(tmp_path: Path) -> None:
    async with opened(tmp_path) as app, client_of(app) as client:
        caller = await key_owner(app)
        first, _ = await add_text(app, caller, "Проезд возмещают из кассы.", title="Касса")
        scope = scope_of(caller)
        other = (await app.bases.create(scope, name="Другая: вторая")).base_id
        document = await app.documents.add_text(
            scope_of(caller, other), other, title="Банк", content="Проезд возмещают через банк."
        )
        await app.documents.wait(scope_of(caller, other), [document.document_id], timeout=30)

        async def titles(model: str, header: str = "") -> set[str]:
            done = await client.chat.completions.create(
                model=model, messages=ASKED, extra_headers={"X-Knowledge-Base-IDs": header}
            )
            return {citation["title"] for citation in done.model_extra["citations"]}  # type: ignore[index]

        assert await titles("opora") == {"Касса", "Банк"}
        assert await titles("opora:База") == await titles(f"opora:{first}") == {"Касса"}
        assert await titles("opora:Другая: вторая") == {"Банк"}
        assert await titles("opora", other) == {"Банк"}
        assert await titles("opora:База", f"{first}, {other}") == {"Касса", "Банк"}
        names = {model.id async for model in await client.models.list()}
        assert names == {"opora", "opora:База", "opora:Другая: вторая"}
        assert (await client.models.retrieve("opora:База")).id == "opora:База"
        (there,) = (await app.bases.browse(scope, Page(), name="База")).items
        async with app._database.begin() as stored:
            # As earlier versions let it be made.
            await stored.bases.add(replace(there, base_id="same-name"))
        names = {model.id async for model in await client.models.list()}
        assert f"opora:{first}" in names
        assert "opora:База" not in names
        with pytest.raises(openai.BadRequestError) as told:
            await titles("opora:База")
        assert f"opora:{first}" in told.value.message
        for model, header in (("gpt-4o", ""), ("opora:Нет", ""), ("opora", "absent")):
            with pytest.raises(openai.NotFoundError) as told_absent:
                await titles(model, header)
            assert told_absent.value.code == "model_not_found"


async def test_bases_of_others_are_as_absent_ones(tmp_path: Path) -> None:
    async with opened(tmp_path) as app, client_of(app) as client:
        foreign, _ = await add_text(app, STRANGER, "Тайна проезда.", title="Тайна")
        for model, header in (("opora:База", ""), (f"opora:{foreign}", ""), ("opora", foreign)):
            with pytest.raises(openai.NotFoundError) as told:
                await client.chat.completions.create(
                    model=model, messages=ASKED, extra_headers={"X-Knowledge-Base-IDs": header}
                )
            assert "Тайна" not in str(told.value.body)
        assert [model.id async for model in await client.models.list()] == ["opora"]


async def test_keys_as_elsewhere(tmp_path: Path) -> None:
    async with opened(tmp_path) as app, client_of(app, "wrong") as client:
        with pytest.raises(openai.AuthenticationError) as told:
            await client.models.list()
        assert told.value.code == "invalid_api_key"


@pytest.mark.parametrize(
    ("wrong", "param"),
    [
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "assistant", "content": "Да."}]}, "messages"),
        ({"messages": [{"role": "user", "content": "  "}]}, "query"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}, "images"),
        ({"messages": [{"role": "user", "content": [{"type": "file", "file": {}}]}]}, "messages"),
        ({"messages": [{"role": "tool", "tool_call_id": "1", "content": "x"}, *ASKED]}, "messages"),
        ({"n": 2}, "n"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "tools"),
        ({"temperature": 9.0}, "temperature"),
        ({"max_tokens": 0}, "max_tokens"),
    ],
)
async def test_what_can_not_be_done_is_refused_and_named(tmp_path: Path, wrong: dict[str, Any], param: str) -> None:
    async with opened(tmp_path) as app, client_of(app) as client:
        with pytest.raises(openai.BadRequestError) as told:
            await client.chat.completions.create(**({"model": "opora", "messages": ASKED} | wrong))
    assert told.value.param == param
    assert told.value.type == "invalid_request_error"


async def test_a_failure_before_the_first_word_is_a_status(tmp_path: Path) -> None:
    async with opened(tmp_path) as app, client_of(app) as client:
        for stream in (False, True):
            with pytest.raises(openai.InternalServerError) as told:
                await client.chat.completions.create(model="opora", messages=ASKED, stream=stream)
            assert told.value.status_code == 503
            assert told.value.code == "model_not_configured"


async def test_a_failure_in_the_middle_breaks_the_stream_off(tmp_path: Path) -> None:
    model = ScriptedChat(["После ", ModelError("The model is gone.")])
    async with opened(tmp_path, model) as app, client_of(app) as client:
        await add_text(app, await key_owner(app))
        stream = await client.chat.completions.create(model="opora", messages=ASKED, stream=True)
        chunks = aiter(stream)
        said = ""
        while said != "После ":
            said += (await anext(chunks)).choices[0].delta.content or ""
        with pytest.raises(openai.APIError, match="The model is gone"):
            await anext(chunks)


async def test_a_cut_answer_has_its_reason(tmp_path: Path) -> None:
    async with opened(tmp_path, ScriptedChat(["После"], finish_reason="max_tokens")) as app, client_of(app) as client:
        await add_text(app, await key_owner(app))
        done = await client.chat.completions.create(model="opora", messages=ASKED)
    assert done.choices[0].finish_reason == "length"


async def test_an_answer_ends_with_its_reader(tmp_path: Path) -> None:
    model = GatedChat()
    async with opened(tmp_path, model) as app, client_of(app) as client:
        await add_text(app, await key_owner(app))
        model.words.put_nowait("После")
        stream = await client.chat.completions.create(model="opora", messages=ASKED, stream=True)
        async for chunk in stream:
            if chunk.choices[0].delta.content == "После":
                break
        await stream.close()
        assert await asyncio.wait_for(model.cancelled.wait(), 5)


async def test_vectors_as_numbers_and_as_bytes(tmp_path: Path) -> None:
    embedder = NullEmbedder()
    async with opened(tmp_path, embedder=embedder) as app, client_of(app) as client:
        names = [model.id async for model in await client.models.list()]
        assert embedder.card.identity in names
        texts = ["Проезд", "Отпуск"]
        by_bytes = await client.embeddings.create(model=embedder.card.identity, input=texts)
        by_numbers = await client.embeddings.create(model="opora", input=texts, encoding_format="float")
        expected = await embedder.embed_passages(texts)
        for made in (by_bytes, by_numbers):
            assert [one.index for one in made.data] == [0, 1]
            assert np.allclose([one.embedding for one in made.data], expected)
        assert by_bytes.usage.total_tokens > 0
        (query,) = (await client.embeddings.create(model="opora", input="Q", extra_body={"input_type": "query"})).data
        assert np.allclose(query.embedding, await embedder.embed_query("Q"))
        dimension = embedder.card.dimension
        await client.embeddings.create(model="opora", input="x", dimensions=dimension)
        for wrong, param in (
            ({"dimensions": dimension + 1}, "dimensions"),
            ({"input": [[1, 2, 3]]}, "input"),
            ({"input": [1, 2]}, "input"),
        ):
            with pytest.raises(openai.BadRequestError) as told:
                await client.embeddings.create(**({"model": "opora", "input": "x"} | wrong))  # type: ignore[arg-type]
            assert told.value.param == param
        for empty in ("", [], ["a", ""]):
            with pytest.raises(openai.BadRequestError):
                await client.embeddings.create(model="opora", input=empty)
        with pytest.raises(openai.NotFoundError):
            await client.embeddings.create(model="text-embedding-3-small", input="x")


async def test_vectors_without_a_model(tmp_path: Path) -> None:
    async with opened(tmp_path) as app, client_of(app) as client:
        with pytest.raises(openai.InternalServerError) as told:
            await client.embeddings.create(model="opora", input="x")
        assert told.value.code == "model_not_configured"


async def test_the_bytes_are_little_endian_floats(tmp_path: Path) -> None:
    async with opened(tmp_path, embedder=NullEmbedder()) as app, serving(app) as http:
        body = {"model": "opora", "input": "x", "encoding_format": "base64"}
        response = await http.post("/v1/embeddings", json=body, headers={"Authorization": f"Bearer {KEY}"})
    data = base64.b64decode(response.json()["data"][0]["embedding"])
    assert len(data) == 4 * NullEmbedder().card.dimension
    assert np.isclose(np.linalg.norm(np.frombuffer(data, dtype="<f4")), 1)


async def rerank(http: httpx2.AsyncClient, **body: Any) -> httpx2.Response:
    body = {"query": QUESTION, "documents": ["короткий", "длинный документ", {"text": "средний док"}]} | body
    return await http.post("/v1/rerank", json=body, headers={"X-API-Key": KEY})


async def test_passages_are_ranked(tmp_path: Path) -> None:
    async with opened(tmp_path, reranker=Lengths()) as app, serving(app) as http:
        results = (await rerank(http)).json()["results"]
        assert [result["index"] for result in results] == [1, 2, 0]
        assert [result["relevance_score"] for result in results] == [0.16, 0.11, 0.08]
        best = (await rerank(http, top_n=1, return_documents=True, model="lengths")).json()["results"]
        assert best == [{"index": 1, "relevance_score": 0.16, "document": {"text": "длинный документ"}}]
        assert (await rerank(http, model="other")).status_code == 404
        assert (await rerank(http, documents=[])).status_code == 400


async def test_ranking_without_a_model(tmp_path: Path) -> None:
    async with opened(tmp_path) as app, serving(app) as http:
        response = await rerank(http)
    assert response.status_code == 503
    assert response.json()["error"]["code"] == "model_not_configured"
