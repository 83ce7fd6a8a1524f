"""A reader is cut at every event of an answer and takes it up again: the text is the uncut one, byte for byte."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from opora.bootstrap import App, Models
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.settings import Settings

from .conftest import GatedChat, add_text, scope_of, serving
from .test_chat import asking, continuing

WORDS = ["Расходы ", "возме", "щают", ' <ref id="c', '1"/>', " после\n\n", "возвра", "щения 🙂", "."]
WHOLE_START = "Расходы возмещают <kb "


@pytest.fixture(params=["memory", "redis"])
async def answering(
    request: pytest.FixtureRequest, tmp_path: Path, chat_model: GatedChat
) -> AsyncIterator[tuple[App, httpx2.AsyncClient, str]]:
    """A server over each kind of log, with a session that has a title."""
    chosen: dict[str, Any] = {"data": tmp_path, "embedding": "none"}
    if request.param == "redis":
        server = request.getfixturevalue("redis_server")
        chosen |= {"STREAM_MANAGER_TYPE": "redis", "REDIS_URL": server.url, "REDIS_PREFIX": request.node.name}
    app = await App.open(Settings.model_validate(chosen), models=Models(embedder=None, chat=chat_model))
    await add_text(app, LOCAL_PRINCIPAL)
    session = await app.sessions.create(scope_of(LOCAL_PRINCIPAL), title="Разговор")
    async with serving(app) as http:
        yield app, http, session.session_id
    await app.close()


async def test_cut_at_every_event_of_a_finished_answer(
    answering: tuple[App, httpx2.AsyncClient, str], chat_model: GatedChat
) -> None:
    _, http, session_id = answering
    async with asking(http, session_id) as live:
        for word in (*WORDS, None):
            chat_model.words.put_nowait(word)
        await live.rest()
    message_id = live.events[0]["assistant_message_id"]
    assert live.text.startswith(WHOLE_START)
    assert live.offsets == list(range(len(live.events)))
    others = [event for event in live.events if event["response_type"] != "answer"]
    for cut in range(1, len(live.events) + 1):
        before = live.events[:cut]
        async with continuing(http, session_id, message_id, last=live.offsets[cut - 1]) as resumed:
            after = await asyncio.wait_for(resumed.rest(), 10)
        together = [*before, *after]
        text = "".join(event["content"] for event in together if event["response_type"] == "answer")
        assert text.encode() == live.text.encode(), cut
        assert [event for event in together if event["response_type"] != "answer"] == others, cut
        assert not set(live.offsets[:cut]) & set(resumed.offsets), cut


async def test_cut_at_every_event_while_it_is_written(
    answering: tuple[App, httpx2.AsyncClient, str], chat_model: GatedChat
) -> None:
    """Each reader lives for one event only; together they read the answer once."""
    app, http, session_id = answering
    scope = await app.access.bases(LOCAL_PRINCIPAL)
    asked = await app.chat.ask(scope, session_id, "Когда возмещают проезд?", overrides={"enable_rewrite": False})
    words: list[str | None] = [*WORDS, None]
    seen: list[dict[str, Any]] = []
    offsets: list[int] = []
    while not seen or seen[-1]["response_type"] != "complete":
        # Half a mark is held back by the decoder, so that a single word may show nothing.
        for word in words[:2]:
            chat_model.words.put_nowait(word)
        words = words[2:]
        last = offsets[-1] if offsets else None
        async with continuing(http, session_id, asked.assistant_message_id, last=last) as reader:
            seen.append(await asyncio.wait_for(anext(aiter(reader)), 10))
            offsets += reader.offsets
    text = "".join(event["content"] for event in seen if event["response_type"] == "answer")
    stored = await app.sessions.message(scope, asked.assistant_message_id)
    assert text.encode() == stored.content.encode()
    assert text.startswith(WHOLE_START)
    assert offsets == sorted(set(offsets))
    assert [event["response_type"] for event in seen].count("references") == 1
