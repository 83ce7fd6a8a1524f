"""A chat model enriches documents: what it adds is found, what it costs is kept, its failure costs nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from opora.bootstrap import App, Models
from opora.domain.enrichment import TOKEN_BUDGET, EnrichmentConfig, EnrichmentStep
from opora.domain.errors import Conflict, InvalidInput, ModelError
from opora.domain.knowledge import ChunkType, ParseStatus
from opora.domain.scope import LOCAL_PRINCIPAL, Scope
from opora.domain.search import SearchMode, SearchRequest
from opora.jobs import enrich as job
from opora.jobs.runner import Retries
from opora.ports import ChatDelta, ChatMessage, ChatOptions, Page
from opora.settings import Settings

TEXT = "# Командировки\n\nКомпания возмещает расходы на проезд по подтверждающим документам после возвращения.\n"
SUMMARY = "Документ говорит, как возмещают поездки сотрудников."
QUESTION = "Когда компенсируют дорогу?"
ALL = EnrichmentConfig(summary=True, tables=True, tags=True, questions=True, base_description=True)


class Secretary:
    """A chat model that knows what it is asked for by the words of the prompt."""

    identity = "secretary"
    sees_images = False

    def __init__(self) -> None:
        self.prompts: list[str] = []
        self.tags = ""
        self.fails = 0
        self.gate: asyncio.Event | None = None
        self.asked = asyncio.Event()

    async def stream(self, messages: Sequence[ChatMessage], options: ChatOptions) -> AsyncIterator[ChatDelta]:
        prompt = messages[-1].content
        self.prompts.append(prompt)
        self.asked.set()
        if self.gate is not None:
            await self.gate.wait()
        if self.fails:
            self.fails -= 1
            raise ModelError("the model is down")
        if "<passage>" in prompt:
            yield ChatDelta(content=f"1. {QUESTION}\n2. Кто платит за поездку?\nВот и всё.")
        elif "<tags>" in prompt:
            yield ChatDelta(content=self.tags)
        elif "<table" in prompt:
            yield ChatDelta(content="Прейскурант: одна строка — один товар, цены в рублях.")
        elif "<documents>" in prompt:
            yield ChatDelta(content="Правила компании для сотрудников.")
        else:
            yield ChatDelta(content=f"Резюме: {SUMMARY}")
        yield ChatDelta(finish_reason="stop")

    async def close(self) -> None: ...

    def count(self, mark: str) -> int:
        return sum(mark in prompt for prompt in self.prompts)


class Place:
    def __init__(self, app: App, scope: Scope, base_id: str) -> None:
        self.app, self.scope, self.base_id = app, scope, base_id

    async def add(self, content: str = TEXT, **values: Any) -> str:
        document = await self.app.documents.add_text(
            self.scope, self.base_id, title="Положение", content=content, **values
        )
        await self.app.jobs.idle()
        return document.document_id

    async def chunks(self, document_id: str) -> dict[ChunkType, list[Any]]:
        found: dict[ChunkType, list[Any]] = {}
        for chunk in (await self.app.chunks.browse(self.scope, document_id, Page(page_size=100))).items:
            found.setdefault(chunk.chunk_type, []).append(chunk)
        return found

    async def found(self, query: str) -> list[Any]:
        request = SearchRequest(query=query, mode=SearchMode.FULLTEXT, match_count=10)
        return list((await self.app.search.search(self.scope, request)).results)


Open = Callable[..., Any]


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Open]:
    async with AsyncExitStack() as stack:

        async def open_place(chat: Secretary | None, config: EnrichmentConfig = ALL) -> Place:
            app = await App.open(Settings(data=tmp_path, embedding="none"), models=Models(embedder=None, chat=chat))
            app.jobs._retries = Retries(first=0.0)
            stack.push_async_callback(app.close)
            tenant = await app.access.tenant(LOCAL_PRINCIPAL)
            known = (await app.access.bases(LOCAL_PRINCIPAL)).bases
            base_id = (
                known[0].base_id if known else (await app.bases.create(tenant, name="Б", enrichment=config)).base_id
            )
            return Place(app, await app.access.bases(LOCAL_PRINCIPAL, [base_id]), base_id)

        yield open_place


def test_everything_is_off_by_default_and_three_questions_are_the_default() -> None:
    config = EnrichmentConfig()
    assert (config.base_description, config.steps) == (False, ())
    assert (config.question_count, config.token_budget) == (3, TOKEN_BUDGET)
    assert ALL.steps == (EnrichmentStep.SUMMARY, EnrichmentStep.TABLES, EnrichmentStep.TAGS, EnrichmentStep.QUESTIONS)


async def test_a_question_that_was_made_for_a_chunk_finds_it(place: Open) -> None:
    here = await place(Secretary(), EnrichmentConfig(questions=True))
    document_id = await here.add()
    (result, *others) = await here.found("компенсируют дорогу")
    assert not others
    assert "возмещает расходы" in result.content
    assert result.metadata["generated_questions"] == [QUESTION, "Кто платит за поездку?"]
    assert set(await here.chunks(document_id)) == {ChunkType.TEXT}
    document = await here.app.documents.get(here.scope, document_id)
    assert document.chunk_count == 1


async def test_a_summary_is_searched_and_describes_the_document(place: Open) -> None:
    chat = Secretary()
    here = await place(chat, EnrichmentConfig(summary=True))
    document_id = await here.add(source="секретное имя.md")
    (summary,) = (await here.chunks(document_id))[ChunkType.SUMMARY]
    assert summary.content == SUMMARY
    document = await here.app.documents.get(here.scope, document_id)
    assert (document.description, document.parse_status) == (SUMMARY, ParseStatus.COMPLETED)
    assert not any("секретное имя" in prompt for prompt in chat.prompts)
    results = await here.found("поездки сотрудников проезд")
    assert {result.chunk_type for result in results} == {ChunkType.SUMMARY, ChunkType.TEXT}
    assert {result.metadata["document_description"] for result in results} == {SUMMARY}


async def test_answers_of_quotes_never_quote_the_summary(place: Open) -> None:
    here = await place(Secretary(), EnrichmentConfig(summary=True))
    await here.add()
    session = await here.app.sessions.create(await here.app.access.tenant(LOCAL_PRINCIPAL), title="t")
    asked = await here.app.chat.ask(
        here.scope, session.session_id, "Как возмещают расходы на проезд?", model_id="extractive"
    )
    async for _ in here.app.chat.follow(here.scope, session.session_id, asked.assistant_message_id):
        pass
    message = await here.app.sessions.message(here.scope, asked.assistant_message_id)
    assert "подтверждающим документам" in message.content
    assert SUMMARY not in message.content


async def test_tables_and_the_base_are_described(place: Open) -> None:
    here = await place(Secretary(), EnrichmentConfig(tables=True, base_description=True))
    data = "товар;цена\nболт;3\nгайка;2\n".encode()
    document = await here.app.documents.add_file(here.scope, here.base_id, file_name="цены.csv", data=data)
    await here.app.jobs.idle()
    (described,) = (await here.chunks(document.document_id))[ChunkType.TABLE_SUMMARY]
    assert described.content.startswith("Прейскурант")
    assert (await here.found("прейскурант товар"))[0].document_id == document.document_id
    assert (await here.app.bases.get(here.scope, here.base_id)).description == "Правила компании для сотрудников."


async def test_without_a_chat_model_nothing_is_done_and_nothing_fails(place: Open) -> None:
    here = await place(None)
    document_id = await here.add()
    state, is_queued = await here.app.documents.enrichment(here.scope, document_id)
    assert (state.done, state.reason, is_queued) == ((), "", False)
    assert (await here.app.documents.get(here.scope, document_id)).parse_status is ParseStatus.COMPLETED


async def test_what_was_switched_on_later_is_done_when_asked_for_and_once(place: Open) -> None:
    chat = Secretary()
    here = await place(chat, EnrichmentConfig())
    document_id = await here.add()
    assert chat.prompts == []
    with pytest.raises(Conflict, match="switched on"):
        await here.app.bases.enrich(here.scope, here.base_id)
    await here.app.bases.update(here.scope, here.base_id, enrichment=EnrichmentConfig(summary=True))
    for _ in range(2):
        assert await here.app.bases.enrich(here.scope, here.base_id) == 1
        await here.app.jobs.idle()
    assert len(chat.prompts) == 1
    state, _ = await here.app.documents.enrichment(here.scope, document_id)
    assert state.done == (EnrichmentStep.SUMMARY,)
    assert state.tokens > 0


async def test_a_budget_that_is_spent_ends_it_with_a_reason_and_more_is_tried_when_asked(place: Open) -> None:
    chat = Secretary()
    here = await place(chat, EnrichmentConfig(summary=True, token_budget=100))
    document_id = await here.add()
    assert chat.prompts == []
    state, is_queued = await here.app.documents.enrichment(here.scope, document_id)
    assert "budget" in state.reason
    assert not is_queued
    await here.app.bases.update(here.scope, here.base_id, enrichment=EnrichmentConfig(summary=True, token_budget=0))
    await here.app.bases.enrich(here.scope, here.base_id)
    await here.app.jobs.idle()
    state, _ = await here.app.documents.enrichment(here.scope, document_id)
    assert (state.done, state.reason) == ((EnrichmentStep.SUMMARY,), "")


async def test_a_model_that_fails_is_tried_again_and_at_last_given_up(place: Open) -> None:
    chat = Secretary()
    here = await place(chat, EnrichmentConfig(summary=True))
    chat.fails = job.ATTEMPTS - 1
    assert (await here.app.documents.enrichment(here.scope, await here.add()))[0].done == (EnrichmentStep.SUMMARY,)
    chat.fails = job.ATTEMPTS
    document_id = await here.add("# Отпуск\n\nЕжегодный отпуск длится двадцать восемь дней подряд у всех.\n")
    state, _ = await here.app.documents.enrichment(here.scope, document_id)
    assert (state.done, "down" in state.reason) == ((), True)
    assert (await here.app.documents.get(here.scope, document_id)).parse_status is ParseStatus.COMPLETED


def rules(count: int, changed: int = -1) -> str:
    return "\n\n".join(
        f"# Правило {n}\n\n{'Новая' if n == changed else 'Старая'} редакция правила номер {n} о порядке работы." * 8
        for n in range(count)
    )


async def test_killed_in_the_middle_it_goes_on_behind_what_was_kept(place: Open) -> None:
    chat = Secretary()
    here = await place(chat, EnrichmentConfig(questions=True, token_budget=0))
    chat.gate = asyncio.Event()
    document = await here.app.documents.add_text(here.scope, here.base_id, title="Правила", content=rules(9))
    await chat.asked.wait()
    await here.app.close()
    chat.gate = None
    chat.prompts.clear()
    here = await place(chat)
    await here.app.jobs.idle()
    chunks = (await here.chunks(document.document_id))[ChunkType.TEXT]
    assert len(chat.prompts) == len(chunks) > 4
    assert all(chunk.metadata["generated_questions"] for chunk in chunks)


async def test_a_new_version_asks_about_new_chunks_only_and_makes_a_new_summary(place: Open) -> None:
    chat = Secretary()
    here = await place(chat, EnrichmentConfig(summary=True, questions=True, token_budget=0))
    common = {"file_name": "правила.md", "source": "правила.md"}
    document = await here.app.documents.add_file(here.scope, here.base_id, data=rules(6).encode(), **common)
    await here.app.jobs.idle()
    first = chat.count("<passage>")
    chat.prompts.clear()
    data = rules(6, changed=3).encode()
    await here.app.documents.add_file(here.scope, here.base_id, data=data, replace=True, **common)
    await here.app.jobs.idle()
    chunks = await here.chunks(document.document_id)
    assert 0 < chat.count("<passage>") <= 3 < first
    assert len(chat.prompts) - chat.count("<passage>") == 1
    assert len(chunks[ChunkType.SUMMARY]) == 1
    assert all(chunk.metadata["generated_questions"] for chunk in chunks[ChunkType.TEXT])


async def test_a_description_that_somebody_wrote_stays(place: Open) -> None:
    chat = Secretary()
    here = await place(chat, EnrichmentConfig(summary=True))
    chat.gate = asyncio.Event()
    document = await here.app.documents.add_text(here.scope, here.base_id, title="П", content=TEXT)
    await chat.asked.wait()
    async with here.app._database.begin() as stored:
        found = await stored.documents.get(here.scope, document.document_id)
        await stored.documents.update(here.scope, replace(found, description="Своими словами"))
    chat.gate.set()
    await here.app.jobs.idle()
    assert (await here.app.documents.get(here.scope, document.document_id)).description == "Своими словами"


async def test_a_document_that_is_deleted_meanwhile_takes_all_of_it_along(place: Open) -> None:
    chat = Secretary()
    here = await place(chat)
    document_id = await here.add()
    assert await here.found("компенсируют дорогу")
    await here.app.documents.delete(here.scope, document_id)
    await here.app.jobs.idle()
    assert await here.found("компенсируют дорогу") == []
    async with here.app._database.read() as stored:
        assert await stored.enrichments.get(here.scope, document_id) is None
    assert await here.app._engine.chunk_ids(here.scope, here.base_id) == set()


@pytest.mark.parametrize("wrong", [{"question_count": 0}, {"question_count": 11}, {"token_budget": -1}])
async def test_numbers_that_make_no_sense_are_refused(place: Open, wrong: dict[str, int]) -> None:
    here = await place(None)
    with pytest.raises(InvalidInput):
        await here.app.bases.update(here.scope, here.base_id, enrichment=EnrichmentConfig(**wrong))


async def tags_of(here: Place, document_id: str) -> set[str]:
    names = {one.tag.tag_id: one.tag.name for one in await here.app.tags.browse(here.scope, here.base_id)}
    document = await here.app.documents.get(here.scope, document_id)
    return {names[tag_id] for tag_id in document.tag_ids}


async def test_a_model_chooses_among_the_tags_of_the_base_and_search_knows_it(place: Open) -> None:
    chat = Secretary()
    chat.tags = "1. КАДРЫ\n- Поездки\nЧто-то ещё\n<b>Чужая</b>"
    here = await place(chat, EnrichmentConfig(tags=True))
    ids = {
        name: (await here.app.tags.create(here.scope, here.base_id, name=name)).tag_id
        for name in ("Кадры", "Поездки", "Склад")
    }
    document_id = await here.add()
    assert await tags_of(here, document_id) == {"Кадры", "Поездки"}
    for name, is_found in (("Поездки", True), ("Склад", False)):
        scope = await here.app.access.bases(LOCAL_PRINCIPAL, [here.base_id], tag_ids=[ids[name]])
        request = SearchRequest(query="проезд", mode=SearchMode.FULLTEXT, match_count=10)
        assert bool((await here.app.search.search(scope, request)).results) is is_found
    assert "Склад" in chat.prompts[0]


async def test_new_tags_are_made_only_where_the_base_allows_them(place: Open) -> None:
    chat = Secretary()
    chat.tags = "Командировки\nЭтот документ рассказывает о многом и разном\n" + "я" * 41
    here = await place(chat, EnrichmentConfig(tags=True))
    assert await tags_of(here, await here.add()) == set()
    assert chat.prompts == [], "there was nothing to choose from"
    await here.app.bases.update(here.scope, here.base_id, enrichment=EnrichmentConfig(tags=True, new_tags=True))
    document_id = await here.add("# Отпуск\n\nЕжегодный отпуск длится двадцать восемь дней подряд у всех.\n")
    assert await tags_of(here, document_id) == {"Командировки"}


async def test_tags_that_people_put_on_stay(place: Open) -> None:
    chat = Secretary()
    chat.tags = "Поездки"
    here = await place(chat, EnrichmentConfig(tags=True))
    own = await here.app.tags.create(here.scope, here.base_id, name="Моя")
    await here.app.tags.create(here.scope, here.base_id, name="Поездки")
    chat.gate = asyncio.Event()
    document = await here.app.documents.add_text(here.scope, here.base_id, title="П", content=TEXT)
    await chat.asked.wait()
    await here.app.tags.put_on(here.scope, {document.document_id: [own.tag_id]})
    chat.gate.set()
    await here.app.jobs.idle()
    assert await tags_of(here, document.document_id) == {"Моя", "Поездки"}


async def test_a_tag_that_is_taken_out_while_the_model_thinks_does_not_come_back(place: Open) -> None:
    chat = Secretary()
    chat.tags = "Поездки"
    here = await place(chat, EnrichmentConfig(tags=True))
    tag = await here.app.tags.create(here.scope, here.base_id, name="Поездки")
    chat.gate = asyncio.Event()
    document = await here.app.documents.add_text(here.scope, here.base_id, title="П", content=TEXT)
    await chat.asked.wait()
    await here.app.tags.delete(here.scope, here.base_id, tag.tag_id)
    chat.gate.set()
    await here.app.jobs.idle()
    assert await tags_of(here, document.document_id) == set()
    assert await here.app.tags.browse(here.scope, here.base_id) == []
