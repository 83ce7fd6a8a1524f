"""Pictures on their whole way over HTTP: from a client to what a model's endpoint is sent, and back."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.servers.chat import ChatServer, chat_server

from opora.bootstrap import App
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.pipeline.sight import NOT_DESCRIBED, NOT_SEEN
from opora.settings import Settings

from .conftest import PASSAGE, QUESTION, add_text, client_of
from .test_foreign_ids import PICTURE

SEEN = "Квитанция такси <b>на 500 ₽</b>"
UNDERSTOOD = json.dumps(
    {"rewrite_query": QUESTION, "intent": "kb_search", "image_description": SEEN}, ensure_ascii=False
)
ANSWER = "После возвращения."
PARTS = [{"type": "image_url", "image_url": {"url": PICTURE}}]


class Caller:
    """One session of a caller."""

    def __init__(self, http: httpx2.AsyncClient, server: ChatServer, session_id: str) -> None:
        self.http = http
        self.server = server
        self.session_id = session_id

    async def ask(self, query: str = "", *, images: Sequence[str] = (PICTURE,), **body: Any) -> list[dict[str, Any]]:
        response = await self.http.post(
            f"/api/v1/knowledge-chat/{self.session_id}", json={"query": query, "images": list(images), **body}
        )
        assert response.status_code == 200, response.text
        return [json.loads(line[5:]) for line in response.text.splitlines() if line.startswith("data:")]

    async def messages(self) -> list[dict[str, Any]]:
        loaded = await self.http.get(f"/api/v1/messages/{self.session_id}/load")
        messages: list[dict[str, Any]] = loaded.json()["data"]
        return messages


@asynccontextmanager
async def caller(
    folder: Path, says: dict[str, list[str | int]], *, vision: bool = False, passage: str | None = PASSAGE, **more: Any
) -> AsyncIterator[Caller]:
    """A caller of an application whose chat model is 'talker', and whose model for pictures, if any, is 'eyes'."""
    async with chat_server(**says) as server:
        settings = Settings(
            data=folder,
            embedding="none",
            chat_url=server.url,
            chat_model="talker",
            chat_vision=vision,
            vision_model="eyes" if "eyes" in says else "",
            **more,
        )
        app = await App.open(settings)
        try:
            if passage is not None:
                await add_text(app, LOCAL_PRINCIPAL, content=passage)
            async with client_of(app) as http:
                session = (await http.post("/api/v1/sessions", json={"title": "т"})).json()["data"]["id"]
                yield Caller(http, server, session)
        finally:
            await app.close()


def last(body: dict[str, Any]) -> Any:
    return body["messages"][-1]["content"]


def said(events: Sequence[dict[str, Any]]) -> str:
    return "".join(event["content"] for event in events if event["response_type"] == "answer")


async def test_a_model_that_sees_is_sent_parts_with_the_picture_before_the_words(tmp_path: Path) -> None:
    async with caller(tmp_path, {"talker": [UNDERSTOOD, ANSWER]}, vision=True) as one:
        assert said(await one.ask("Что с этим?")) == ANSWER
        understanding, answering = one.server.asked
    for body in (understanding, answering):
        assert last(body)[:-1] == PARTS
        assert last(body)[-1]["type"] == "text"
    assert understanding["max_tokens"] == 2048
    assert PASSAGE in last(answering)[-1]["text"]
    assert isinstance(answering["messages"][0]["content"], str)


async def test_a_model_that_does_not_see_is_told_what_the_one_for_pictures_saw(tmp_path: Path) -> None:
    async with caller(tmp_path, {"talker": [ANSWER], "eyes": [UNDERSTOOD]}) as one:
        await one.ask("Что с этим?")
        (question, answer) = await one.messages()
        (answering,) = one.server.asked_of("talker")
        assert question["images"][0]["caption"] == SEEN
        assert not any("pictures" in warning for warning in answer["warnings"])
    assert "Квитанция такси &lt;b&gt;на 500" in last(answering)
    assert "image_url" not in json.dumps(answering)


async def test_what_was_seen_goes_into_the_next_rounds_rewriting_and_history(tmp_path: Path) -> None:
    talker: list[str | int] = [UNDERSTOOD, ANSWER, '{"rewrite_query": "x", "intent": "follow_up"}', "Ещё."]
    async with caller(tmp_path, {"talker": talker}, vision=True) as one:
        await one.ask()
        await one.ask("А подробнее?", images=())
        rewriting, answering = one.server.asked[2:]
    assert "Квитанция такси" in last(rewriting)
    assert any("Квитанция такси" in message["content"] for message in answering["messages"][:-1])
    assert "image_url" not in json.dumps([rewriting, answering])


@pytest.mark.parametrize("query", ["Что на снимке?", ""])
async def test_plain_chat_with_a_model_for_pictures_tells_the_other_what_they_show(tmp_path: Path, query: str) -> None:
    async with caller(tmp_path, {"talker": [ANSWER], "eyes": [UNDERSTOOD]}, passage=None) as one:
        assert said(await one.ask(query)) == ANSWER
        (question, answer) = await one.messages()
        (answering,) = one.server.asked_of("talker")
    assert "Квитанция такси" in last(answering)
    assert question["images"][0]["caption"] == SEEN
    assert answer["warnings"] == []


async def test_where_the_model_for_pictures_fails_the_other_one_rewrites_the_words(tmp_path: Path) -> None:
    rewritten = json.dumps({"rewrite_query": QUESTION, "intent": "kb_search", "image_description": "Выдумка"})
    async with caller(tmp_path, {"talker": [rewritten, ANSWER], "eyes": [400]}) as one:
        assert said(await one.ask("а когда?")) == ANSWER
        (question, answer) = await one.messages()
        rewriting, answering = one.server.asked_of("talker")
    assert "image_url" not in json.dumps([rewriting, answering])
    assert NOT_DESCRIBED in answer["warnings"]
    assert NOT_SEEN not in answer["warnings"]
    assert question["images"][0]["caption"] == "", "what a model says that was shown nothing is made up"


async def test_pictures_alone_that_the_model_for_them_fails_at_are_an_error_that_says_so(tmp_path: Path) -> None:
    async with caller(tmp_path, {"talker": [ANSWER], "eyes": [400]}) as one:
        await one.ask()
        (_, answer) = await one.messages()
        assert one.server.asked_of("talker") == []
    assert answer["finish"] == "error"
    assert "did not say what they show" in answer["error_message"]


async def test_pictures_without_any_model_that_sees_reach_no_endpoint(tmp_path: Path) -> None:
    talker = {"talker": [ANSWER]}
    async with caller(tmp_path, talker, retrieval={"enable_rewrite": False}) as one:
        assert said(await one.ask(QUESTION)) == ANSWER
        (_, answer) = await one.messages()
        (answering,) = one.server.asked
    assert answer["warnings"].count(NOT_SEEN) == 1
    assert "image_url" not in json.dumps(answering)


async def test_a_fallback_in_the_models_own_words_knows_what_the_pictures_show(tmp_path: Path) -> None:
    elsewhere = json.dumps({"rewrite_query": "zzz", "intent": "kb_search", "image_description": SEEN})
    retrieval = {"fallback_strategy": "model"}
    async with caller(tmp_path, {"talker": ["Такси."], "eyes": [elsewhere]}, retrieval=retrieval) as one:
        assert said(await one.ask()) == "Такси."
        (answering,) = one.server.asked_of("talker")
    assert "Квитанция такси" in last(answering)


async def test_handles_go_to_the_endpoint_as_aliases_and_come_back_to_the_reader(tmp_path: Path) -> None:
    handle = "minio://files/9f86d081/схема.png?a=1&b=2"
    passage = f"{PASSAGE} Смотри ![схема]({handle})."
    reply = "Вот: ![схема](res://0001), а не ![другая](res://0009)."
    async with caller(tmp_path, {"talker": ['{"intent": "kb_search"}', reply]}, passage=passage) as one:
        events = await one.ask(QUESTION, images=())
        (_, answer) = await one.messages()
        answering = one.server.asked[-1]
    assert said(events) == answer["content"] == f"Вот: ![схема]({handle}), а не ![другая]()."
    assert "![схема](res://0001)" in last(answering)
    assert "minio://" not in json.dumps(answering, ensure_ascii=False)
    assert "![подпись](адрес)" in answering["messages"][0]["content"]


async def test_an_earlier_round_of_pictures_alone_stays_in_a_conversation_that_a_client_sends(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": PARTS},
        {"role": "assistant", "content": "Это квитанция."},
        {"role": "user", "content": [*PARTS, {"type": "text", "text": QUESTION}]},
    ]
    async with caller(tmp_path, {"talker": [UNDERSTOOD, ANSWER]}, vision=True) as one:
        done = await one.http.post("/v1/chat/completions", json={"model": "opora", "messages": messages})
        assert done.status_code == 200, done.text
        answering = one.server.asked[-1]
    roles = [(message["role"], message["content"]) for message in answering["messages"]]
    assert roles[1:3] == [("user", "[pictures]"), ("assistant", "Это квитанция.")]
    assert last(answering)[:-1] == PARTS
