"""A base that keeps a graph: what its chunks speak of is read once, follows every change, and leads to answers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from opora.bootstrap import App, Models
from opora.domain.errors import Unavailable
from opora.domain.graph import ENTITIES, RELATIONS
from opora.domain.knowledge import IndexingStrategy, ParseStatus
from opora.domain.scope import LOCAL_PRINCIPAL, Scope
from opora.domain.search import MatchType
from opora.jobs.runner import Retries
from opora.ports import ChatDelta, ChatMessage, ChatOptions, Page
from opora.settings import Settings

TEXT = "# Поставщики\n\nООО «Ромашка» поставляет фильтры для насосов по договору с заводом «Восход» с прошлого года.\n"
OTHER = "# Склад\n\nФильтры для насосов лежат на втором стеллаже, их выдаёт кладовщик по заявке мастера смены.\n"
FACTS = {
    "entities": ["Ромашка", "Восход", "фильтры для насосов"],
    "relations": [{"source": "Ромашка", "relation": "поставляет", "target": "фильтры для насосов"}],
}


class Reader:
    """A chat model that knows the facts of every passage, names one thing in every question, and answers the rest."""

    identity = "reader"
    sees_images = False

    def __init__(self) -> None:
        self.passages = 0

    async def stream(self, messages: Sequence[ChatMessage], options: ChatOptions) -> AsyncIterator[ChatDelta]:
        prompt = messages[-1].content
        if "<text>" in prompt:
            self.passages += 1
            yield ChatDelta(content=json.dumps(FACTS, ensure_ascii=False))
        elif '{"entities"' in prompt:
            yield ChatDelta(content='{"entities": ["Ромашки"]}')
        elif messages[0].role == "system" and "rewrite_query" in messages[0].content:
            yield ChatDelta(content='{"rewrite_query": "", "intent": "kb_search"}')
        else:
            yield ChatDelta(content="Готово.")
        yield ChatDelta(finish_reason="stop")

    async def close(self) -> None: ...


class Place:
    def __init__(self, app: App, model: Reader, scope: Scope, base_id: str) -> None:
        self.app, self.model, self.scope, self.base_id = app, model, scope, base_id

    async def add(self, content: str = TEXT, title: str = "Поставщики") -> str:
        document = await self.app.documents.add_text(self.scope, self.base_id, title=title, content=content)
        await self.app.jobs.idle()
        return document.document_id

    async def chunks(self, document_id: str) -> list[Any]:
        return list((await self.app.chunks.browse(self.scope, document_id, Page(page_size=100))).items)

    async def found(self, name: str, *base_ids: str) -> set[str]:
        """Documents whose chunks the graph leads to and the database still shows."""
        scope = await self.app.access.bases(LOCAL_PRINCIPAL, list(base_ids) or [self.base_id])
        ids = await self.app._graph.chunk_ids(scope, [name])
        async with self.app._database.read() as stored:
            return {result.document_id for result in (await stored.chunks.hydrate(scope, ids)).values()}

    async def switch(self, *, graph: bool) -> None:
        await self.app.bases.update(self.scope, self.base_id, indexing=IndexingStrategy(graph=graph))
        await self.app.jobs.idle()


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    model = Reader()
    app = await App.open(Settings(data=tmp_path, embedding="none"), models=Models(embedder=None, chat=model))
    app.jobs._retries = Retries(first=0.0)
    tenant = await app.access.tenant(LOCAL_PRINCIPAL)
    base = await app.bases.create(tenant, name="Б", indexing=IndexingStrategy(graph=True))
    yield Place(app, model, await app.access.bases(LOCAL_PRINCIPAL, [base.base_id]), base.base_id)
    await app.close()


async def test_chunks_keep_what_they_speak_of_and_the_graph_leads_to_them(place: Place) -> None:
    document_id = await place.add()
    (chunk,) = await place.chunks(document_id)
    assert chunk.metadata[ENTITIES] == FACTS["entities"]
    assert chunk.metadata[RELATIONS] == [{"source": "Ромашка", "label": "поставляет", "target": "фильтры для насосов"}]
    assert await place.found("ромашки") == {document_id}
    document = await place.app.documents.get(place.scope, document_id)
    assert document.parse_status is ParseStatus.COMPLETED


async def test_an_answer_uses_what_only_the_graph_finds_and_its_trace_says_so(place: Place) -> None:
    await place.add()
    other = await place.add(OTHER, "Склад")
    session = await place.app.sessions.create(await place.app.access.tenant(LOCAL_PRINCIPAL), title="t")
    asked = await place.app.chat.ask(place.scope, session.session_id, "Расскажи про «Ромашку»", explain=True)
    async for _ in place.app.chat.follow(place.scope, session.session_id, asked.assistant_message_id):
        pass
    message = await place.app.sessions.message(place.scope, asked.assistant_message_id)
    by_graph = [result for result in message.references if result.match_type is MatchType.GRAPH]
    assert {result.document_id for result in by_graph} == {other}, "found by the words of its neighbour alone"


async def test_a_base_without_a_graph_costs_nothing(place: Place) -> None:
    await place.switch(graph=False)
    document_id = await place.add()
    assert place.model.passages == 0
    assert await place.found("Ромашка") == set()
    (chunk,) = await place.chunks(document_id)
    assert ENTITIES not in chunk.metadata


async def test_switched_off_and_on_again_it_is_made_anew_without_the_model(place: Place) -> None:
    document_id = await place.add()
    await place.switch(graph=False)
    assert await place.found("Ромашка") == set()
    await place.switch(graph=True)
    assert await place.found("Ромашка") == {document_id}
    assert place.model.passages == 1


async def test_documents_that_were_there_are_read_when_asked_for(place: Place) -> None:
    await place.switch(graph=False)
    document_id = await place.add()
    await place.switch(graph=True)
    assert await place.found("Ромашка") == set()
    assert await place.app.bases.enrich(place.scope, place.base_id) == 1
    await place.app.jobs.idle()
    assert await place.found("Ромашка") == {document_id}


async def test_an_edit_forgets_what_the_former_words_said(place: Place) -> None:
    document_id = await place.add()
    (chunk,) = await place.chunks(document_id)
    await place.app.chunk_edits.edit(place.scope, chunk.chunk_id, "Фильтры теперь покупают у другого завода.")
    await place.app.jobs.idle()
    assert await place.found("Ромашка") == set()


async def test_a_chunk_that_is_switched_off_is_not_led_to(place: Place) -> None:
    document_id = await place.add()
    (chunk,) = await place.chunks(document_id)
    await place.app.chunks.set_enabled(place.scope, chunk.chunk_id, False)
    await place.app.jobs.idle()
    assert await place.found("Ромашка") == set()


async def test_what_is_read_anew_and_did_not_change_is_not_asked_about_again(place: Place) -> None:
    document_id = await place.add()
    await place.app.addresses.read_again(place.scope, document_id)
    await place.app.jobs.idle()
    assert await place.found("Ромашка") == {document_id}
    assert place.model.passages == 1


async def test_copies_bring_the_graph_along(place: Place) -> None:
    await place.add()
    task = await place.app.copies.start(place.scope, place.base_id, name="Копия")
    await place.app.jobs.idle()
    assert len(await place.found("Ромашка", task.target_id)) == 1
    assert place.model.passages == 1


async def test_a_deleted_document_and_base_leave_nothing(place: Place) -> None:
    document_id = await place.add()
    await place.app.documents.delete(place.scope, document_id)
    await place.app.jobs.idle()
    async with place.app._database.read() as stored:
        assert await stored.graph.seeds(replace(place.scope, include_disabled=True), "ромашк", limit=9) == []


async def test_a_graph_that_is_down_holds_no_document_up_and_is_written_later(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = place.app._graph
    replace_document, failures = graph.replace_document, [1, 1, 1]

    async def flaky(*args: Any) -> None:
        if failures:
            failures.pop()
            raise Unavailable("the graph is away")
        await replace_document(*args)

    monkeypatch.setattr(graph, "replace_document", flaky)
    document_id = await place.add()
    assert failures == []
    assert await place.found("Ромашка") == {document_id}
    document = await place.app.documents.get(place.scope, document_id)
    assert (document.parse_status, document.error_reason) == (ParseStatus.COMPLETED, "")
