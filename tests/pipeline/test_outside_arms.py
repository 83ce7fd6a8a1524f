"""What the pipeline does with a web search, an entity graph and a table analyst, and without them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from opora.bootstrap import App, Models
from opora.chat.orchestrator import Orchestrator
from opora.domain.conversation import Finish
from opora.domain.errors import ModelError, Unavailable
from opora.domain.knowledge import ChunkType, IndexingStrategy
from opora.domain.question import Draft, Intent, Question
from opora.domain.scope import LOCAL_PRINCIPAL, Scope
from opora.domain.search import MatchType, SearchResult
from opora.domain.settings import Effective, RetrievalSettings
from opora.domain.stream import ResponseType, StreamEvent
from opora.models.scripted import ScriptedChat
from opora.pipeline.builder import PRESETS
from opora.pipeline.events import EventType as E
from opora.pipeline.fallback import Fallback
from opora.pipeline.manager import EventManager
from opora.pipeline.plugins.data_analysis import first_table
from opora.pipeline.plugins.search_entity import MAX_ENTITY_CHUNKS
from opora.pipeline.plugins.web_fetch import MAX_PAGE_BYTES, first_bytes
from opora.pipeline.run import Run, RunModels
from opora.pipeline.services import Services
from opora.pipeline.table import make_plugins
from opora.ports import ChatDelta, ChatMessage, ChatOptions, WebPage
from opora.settings import Settings

TEXT = "# Командировки\n\nРасходы на проезд возмещают по документам после возвращения.\n"
PAGES = [
    WebPage(url="https://a.example/x", title="О поездках", snippet="Поездки оплачивают заранее.", score=0.9),
    WebPage(url="https://b.example/", title="", snippet="Билеты покупает отдел.", score=1.7),
    WebPage(url="https://a.example/x", title="Ещё раз", snippet="То же.", score=0.1),
    WebPage(url="https://c.example/", title="Пусто", snippet=" ", score=0.1),
]


@dataclass
class Web:
    """A web search and its pages; an exception in the place of an answer is raised."""

    pages: Sequence[WebPage] | Exception = ()
    texts: dict[str, str | Exception] = field(default_factory=dict)
    read_urls: list[str] = field(default_factory=list)

    async def search(self, query: str) -> Sequence[WebPage]:
        if isinstance(self.pages, Exception):
            raise self.pages
        return self.pages

    async def read(self, url: str) -> str:
        self.read_urls.append(url)
        text = self.texts[url]
        if isinstance(text, Exception):
            raise text
        return text


@dataclass
class Graph:
    ids: Sequence[str] | Exception = ()

    async def chunk_ids(self, scope: Scope, entities: Sequence[str]) -> Sequence[str]:
        if isinstance(self.ids, Exception):
            raise self.ids
        return self.ids


class Namer(ScriptedChat):
    """A model that names entities and rewrites nothing; what it was asked is counted by the mark of the prompt."""

    def __init__(self, reply: str = '{"entities": ["проезд"]}', *, fails: str = "") -> None:
        super().__init__([reply])
        self.named_for: list[str] = []
        self._fails = fails

    async def stream(self, messages: Sequence[ChatMessage], options: ChatOptions) -> AsyncIterator[ChatDelta]:
        if '{"entities"' in messages[-1].content:
            self.named_for.append(messages[-1].content)
            if self._fails:
                raise ModelError(self._fails)
            async for delta in super().stream(messages, options):
                yield delta


@dataclass
class Analyst:
    said: str | Exception = "Сумма: 42"
    asked: list[str] = field(default_factory=list)

    async def analyse(self, scope: Scope, question: str, document_id: str) -> str:
        self.asked.append(document_id)
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    app = await App.open(Settings(data=tmp_path, embedding="none"), models=Models(embedder=None, chat=None))
    yield app
    await app.close()


async def asked(app: App, text: str = "Как возмещают расходы на проезд?", *, graph: bool = False, **values: Any):
    """A question over a base with one document, and the ids of its chunks."""
    tenant = await app.access.tenant(LOCAL_PRINCIPAL)
    name = f"Правила, {'graph' if graph else 'plain'}"
    base = await app.bases.create(tenant, name=name, indexing=IndexingStrategy(graph=graph))
    scope = await app.access.bases(LOCAL_PRINCIPAL, [base.base_id])
    document = await app.documents.add_text(scope, base.base_id, title="Правила", content=TEXT)
    await app.documents.wait(scope, [document.document_id], timeout=60)
    async with app._database.read() as stored:
        ids = sorted(await stored.chunks.ids(scope))
    question = Question(
        text=text,
        scope=scope,
        session_id="s",
        request_id="r",
        user_message_id="u",
        assistant_message_id="a",
        asked_at=document.created_at,
        settings=Effective(values=replace(RetrievalSettings(), **values)),
        language="ru",
    )
    return question, ids


def services(app: App, **outside: Any) -> Services:
    from opora.models.extractive import SentenceQuoter

    return Services(database=app._database, search=app.search, quoter=SentenceQuoter(None), **outside)


async def trigger(app: App, event: E, draft: Draft, **outside: Any) -> Draft:
    return await EventManager(make_plugins(services(app, **outside))).trigger(event, draft, Run())


async def test_pages_of_the_web_join_what_the_bases_hold_with_their_address_as_id(app: App) -> None:
    question, _ = await asked(app, web_search_enabled=True)
    draft = await trigger(app, E.CHUNK_SEARCH_PARALLEL, Draft(question=question), web=Web(PAGES))
    pages = [result for result in draft.found if result.match_type is MatchType.WEB]
    assert [page.chunk_id for page in pages] == ["https://a.example/x", "https://b.example/"]
    assert {page.source for page in pages} == {"web_search"}
    assert {page.chunk_type for page in pages} == {ChunkType.WEB_SEARCH}
    assert [page.score for page in pages] == [0.9, 1.0]
    assert len(draft.found) > len(pages)


async def test_without_the_switch_or_without_a_provider_the_web_is_not_searched(app: App) -> None:
    question, _ = await asked(app)
    web = Web(Unavailable("never asked"))
    off = await trigger(app, E.CHUNK_SEARCH_PARALLEL, Draft(question=question), web=web)
    question = replace(question, settings=Effective(values=RetrievalSettings(web_search_enabled=True)))
    alone = await trigger(app, E.CHUNK_SEARCH_PARALLEL, Draft(question=question))
    for draft in (off, alone):
        assert draft.found
        assert not any("web" in warning for warning in draft.warnings)


async def test_a_web_search_that_fails_is_a_warning_and_the_bases_answer(app: App) -> None:
    question, _ = await asked(app, web_search_enabled=True)
    draft = await trigger(app, E.CHUNK_SEARCH, Draft(question=question), web=Web(Unavailable("no quota")))
    assert draft.found
    assert any("no quota" in warning for warning in draft.warnings)


def web_draft(question: Question, count: int = 5) -> Draft:
    pages = [
        SearchResult(
            chunk_id=f"https://{n}.example/", base_id="", tenant_id="", document_id="", content="коротко", title="t",
            match_type=MatchType.WEB, score=1 - n / 10,
        )
        for n in range(count)
    ]  # fmt: skip
    return Draft(question=question, found=tuple(pages), ranked=tuple(pages))


async def test_the_three_best_pages_are_read_and_cut_to_8000_bytes(app: App, question: Question) -> None:
    assert RetrievalSettings().web_fetch_top_n == 3
    assert MAX_PAGE_BYTES == 8_000
    question = replace(
        question, settings=Effective(values=RetrievalSettings(web_search_enabled=True, web_fetch_enabled=True))
    )
    long = "я" * 9_000
    web = Web(texts={"https://0.example/": long, "https://1.example/": Unavailable("404"), "https://2.example/": " "})
    draft = await trigger(app, E.WEB_FETCH, web_draft(question), pages=web)
    assert sorted(web.read_urls) == [f"https://{n}.example/" for n in range(3)]
    assert draft.ranked is not None
    assert [r.content for r in draft.ranked] == ["я" * 4_000, "коротко", "коротко", "коротко", "коротко"]
    assert ["404" in warning for warning in draft.warnings] == [True]


@pytest.mark.parametrize("switches", [{"web_search_enabled": True}, {"web_fetch_enabled": True}, {}])
async def test_pages_are_read_only_with_both_switches_on(app: App, question: Question, switches: Any) -> None:
    question = replace(question, settings=Effective(values=RetrievalSettings(**switches)))
    web = Web()
    before = web_draft(question)
    assert await trigger(app, E.WEB_FETCH, before, pages=web) == before
    assert web.read_urls == []


def test_a_cut_in_bytes_never_breaks_a_character() -> None:
    assert first_bytes("ая", 3) == "а"
    assert first_bytes("出差", 5) == "出"
    assert first_bytes("abc", 8) == "abc"


async def test_entities_are_looked_for_with_a_graph_a_base_that_has_one_and_an_intent_that_searches(app: App) -> None:
    question, _ = await asked(app, graph=True, enable_rewrite=False)
    model = Namer()
    named = await trigger(app, E.QUERY_UNDERSTAND, Draft(question=question), chat_model=model, graph=Graph())
    assert named.entities == ("проезд",)
    assert question.text in model.named_for[0]
    for draft, outside in (
        (Draft(question=question), {"chat_model": model}),
        (Draft(question=question), {"graph": Graph()}),
        (Draft(question=question, intent=Intent.GREETING), {"chat_model": model, "graph": Graph()}),
    ):
        assert (await trigger(app, E.QUERY_UNDERSTAND, draft, **outside)).entities == ()
    assert len(model.named_for) == 1


async def test_no_entities_for_bases_without_a_graph_and_a_failure_is_a_warning(app: App) -> None:
    question, _ = await asked(app)
    model = Namer()
    await trigger(app, E.QUERY_UNDERSTAND, Draft(question=question), chat_model=model, graph=Graph())
    assert model.named_for == []
    other, _ = await asked(app, graph=True)
    model = Namer(fails="model away")
    draft = await trigger(app, E.QUERY_UNDERSTAND, Draft(question=other), chat_model=model, graph=Graph())
    assert any("model away" in warning for warning in draft.warnings)


async def test_the_model_of_the_question_names_entities_and_the_next_one_where_it_fails(app: App) -> None:
    question, _ = await asked(app, graph=True, enable_rewrite=False)
    small, chat = Namer(fails="busy"), Namer()
    manager = EventManager(make_plugins(services(app, chat_model=Namer(fails="never asked"), graph=Graph())))
    run = Run(models=RunModels(chat=chat, understand=small))
    draft = await manager.trigger(E.QUERY_UNDERSTAND, Draft(question=question), run)
    assert draft.entities == ("проезд",)
    assert (len(small.named_for), len(chat.named_for)) == (1, 1)


async def test_the_graph_adds_chunks_that_may_still_be_shown_without_a_score(app: App) -> None:
    question, ids = await asked(app, text="Что с отпуском у жирафа?")
    graph = Graph(ids=["gone", *ids, *ids])
    draft = Draft(question=question, entities=("проезд",))
    found = (await trigger(app, E.ENTITY_SEARCH, draft, graph=graph)).found
    assert [result.chunk_id for result in found] == ids
    assert {(result.match_type, result.score) for result in found} == {(MatchType.GRAPH, 0.0)}
    draft = await trigger(app, E.CHUNK_SEARCH_PARALLEL, draft, graph=graph)
    assert not draft.nothing_found
    assert [result.chunk_id for result in draft.found] == ids


async def test_neither_passages_nor_entities_is_nothing_found_and_a_failing_graph_a_warning(app: App) -> None:
    question, _ = await asked(app, text="жираф")
    draft = Draft(question=question, entities=("жираф",))
    assert (await trigger(app, E.CHUNK_SEARCH_PARALLEL, draft, graph=Graph())).nothing_found
    draft = await trigger(app, E.CHUNK_SEARCH_PARALLEL, draft, graph=Graph(ids=Unavailable("graph away")))
    assert draft.nothing_found
    assert any("graph away" in warning for warning in draft.warnings)


async def test_at_most_30_chunks_come_from_the_graph(app: App) -> None:
    assert MAX_ENTITY_CHUNKS == 30
    tenant = await app.access.tenant(LOCAL_PRINCIPAL)
    base = await app.bases.create(tenant, name="Много")
    scope = await app.access.bases(LOCAL_PRINCIPAL, [base.base_id])
    text = "\n\n".join(f"# Раздел {n}\n\nПравило номер {n} о проезде." for n in range(40))
    document = await app.documents.add_text(scope, base.base_id, title="Правила", content=text)
    await app.documents.wait(scope, [document.document_id], timeout=60)
    async with app._database.read() as stored:
        ids = sorted(await stored.chunks.ids(scope))
    assert len(ids) > 30
    question, _ = await asked(app)
    draft = Draft(question=replace(question, scope=scope), entities=("проезд",))
    assert len((await trigger(app, E.ENTITY_SEARCH, draft, graph=Graph(ids=ids))).found) == 30


def passage(chunk_id: str, file_name: str, **values: Any) -> SearchResult:
    common = {"base_id": "b", "tenant_id": "default", "content": chunk_id, "score": 0.5}
    return SearchResult(chunk_id=chunk_id, file_name=file_name, document_id=f"d-{chunk_id}", **common, **values)


async def test_a_computation_over_the_first_table_file_joins_with_score_1(app: App, question: Question) -> None:
    question = replace(question, settings=Effective(values=RetrievalSettings(data_analysis_enabled=True)))
    merged = (
        passage("text", "правила.md"),
        passage("columns", "a.xlsx", chunk_type=ChunkType.TABLE_COLUMN),
        passage("rows", "ЦЕНЫ.CSV"),
        passage("other", "b.xlsx"),
    )
    analyst = Analyst()
    draft = await trigger(app, E.DATA_ANALYSIS, Draft(question=question, merged=merged), analyst=analyst)
    assert analyst.asked == ["d-rows"]
    assert draft.merged is not None
    assert [result.chunk_id for result in draft.merged] == ["text", "rows", "other", "d-rows:data"]
    assert (draft.merged[-1].score, draft.merged[-1].match_type) == (1.0, MatchType.DATA)
    assert draft.merged[-1].content == "Сумма: 42"


async def test_no_analysis_without_switch_table_or_word_of_the_analyst(app: App, question: Question) -> None:
    merged = (passage("rows", "a.csv"),)
    analyst = Analyst()
    off = Draft(question=question, merged=merged)
    assert await trigger(app, E.DATA_ANALYSIS, off, analyst=analyst) == off
    on = replace(question, settings=Effective(values=RetrievalSettings(data_analysis_enabled=True)))
    assert first_table([passage("text", "a.pdf"), passage("noname", "")]) is None
    silent = await trigger(app, E.DATA_ANALYSIS, Draft(question=on, merged=merged), analyst=Analyst(said=""))
    assert silent.merged == merged
    failing = Analyst(said=Unavailable("broken"))
    draft = await trigger(app, E.DATA_ANALYSIS, Draft(question=on, merged=merged), analyst=failing)
    assert draft.merged == merged
    assert "broken" in draft.warnings[0]


@pytest.mark.parametrize(("preset", "pieces"), [("rag", 1), ("rag_stream", 3), ("chat", 1), ("chat_stream", 3)])
async def test_presets_answer_whole_or_in_pieces_and_in_the_same_words(app: App, preset: str, pieces: int) -> None:
    question, _ = await asked(app)
    made = services(app, chat_model=ScriptedChat(["По ", "документам", "."]))
    sent: list[StreamEvent] = []

    async def emit(event: StreamEvent) -> None:
        sent.append(event)

    orchestrator = Orchestrator(EventManager(make_plugins(made)), fallback=Fallback(made))
    draft = await orchestrator.answer(question, Run(emit=emit), PRESETS[preset])
    answers = [event.content for event in sent if event.response_type is ResponseType.ANSWER]
    assert (draft.answer, draft.finish) == ("По документам.", Finish.COMPLETE)
    assert len(answers) == pieces
    assert "".join(answers) == draft.answer


async def test_the_whole_answer_of_quotes_says_that_it_is_one(app: App) -> None:
    question, _ = await asked(app)
    made = services(app)
    sent: list[StreamEvent] = []

    async def emit(event: StreamEvent) -> None:
        sent.append(event)

    await Orchestrator(EventManager(make_plugins(made)), fallback=Fallback(made)).answer(
        question, Run(emit=emit), PRESETS["rag"]
    )
    (answer,) = [event for event in sent if event.response_type is ResponseType.ANSWER]
    assert answer.data == {"extractive": True}
    assert "по документам" in answer.content
