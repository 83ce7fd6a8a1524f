"""Earlier questions and answers are found by words and by meaning, one's own only, and no longer than they exist."""

from __future__ import annotations

import pytest

from opora.bootstrap import App, Models
from opora.chat import history
from opora.domain.errors import EngineError, InvalidInput, ModelError, ModelNotConfigured
from opora.domain.scope import LOCAL_PRINCIPAL, Principal, Scope
from opora.domain.search import SearchMode
from opora.models.checked import CheckedEmbedder
from opora.models.null import NullEmbedder
from opora.models.scripted import ScriptedChat
from opora.ports import RerankerCard
from opora.settings import Settings

COLLEAGUE = Scope(principal=Principal(tenant_id=LOCAL_PRINCIPAL.tenant_id, user_id="colleague"))


class ByLength:
    """A reranking model that likes short texts."""

    card = RerankerCard(identity="by-length")
    fails = False

    async def rerank(self, query, passages):
        if self.fails:
            raise ModelError("it is down")
        return [1 / len(passage) for passage in passages]

    async def close(self) -> None: ...


class Talk:
    def __init__(self, app: App, scope: Scope) -> None:
        self.app = app
        self.scope = scope

    async def said(self, question: str, *, session_id: str = "", scope: Scope | None = None) -> tuple[str, str]:
        scope = scope or self.scope
        session_id = session_id or (await self.app.sessions.create(scope, title="Беседа")).session_id
        asked = await self.app.chat.ask(scope, session_id, question)
        async for _ in self.app.chat.follow(scope, session_id, asked.assistant_message_id):
            pass
        return session_id, asked.assistant_message_id

    async def found(self, query: str, **options) -> list[str]:
        result = await self.app.history.search(options.pop("scope", self.scope), query, **options)
        return [one.round_.question.content if one.round_.question else "" for one in result.rounds]


@pytest.fixture
async def talk(tmp_path):
    opened = []

    async def open_app(*, answer: str = "Ответ.", embedder=None, reranker=None) -> Talk:
        models = Models(embedder=embedder, chat=ScriptedChat([answer]), reranker=reranker)
        app = await App.open(Settings(data=tmp_path / "data", embedding="none"), models=models)
        opened.append(app)
        return Talk(app, await app.access.tenant(LOCAL_PRINCIPAL))

    yield open_app
    for app in opened:
        await app.close()


async def test_by_words_of_question_and_answer_in_any_form(talk) -> None:
    person = await talk(answer="Суточные платят вперёд.")
    await person.said("Когда дают отпуск?")
    assert await person.found("отпуска") == ["Когда дают отпуск?"]
    assert await person.found("суточных") == ["Когда дают отпуск?"]
    assert await person.found("вертолёт") == []


async def test_one_finds_ones_own(talk) -> None:
    person = await talk()
    await person.said("Когда отпуск?")
    await person.said("Отпуск коллеги?", scope=COLLEAGUE)
    stranger = Scope(principal=Principal(tenant_id="another", user_id=LOCAL_PRINCIPAL.user_id))
    assert await person.found("отпуск") == ["Когда отпуск?"]
    assert await person.found("отпуск", scope=COLLEAGUE) == ["Отпуск коллеги?"]
    assert await person.found("отпуск", scope=stranger) == []


async def test_no_search_of_documents_sees_it(talk) -> None:
    person = await talk()
    await person.said("Когда отпуск?")
    await person.found("отпуск")
    everything = await person.app.access.bases(LOCAL_PRINCIPAL)
    assert everything.bases == ()


async def test_in_some_sessions_only_and_no_more_than_wanted(talk) -> None:
    person = await talk()
    first, _ = await person.said("Отпуск в мае?")
    await person.said("Отпуск в июне?")
    assert await person.found("отпуск", session_ids=[first]) == ["Отпуск в мае?"]
    assert await person.found("отпуск", session_ids=["no-such"]) == []
    assert len(await person.found("отпуск", limit=1)) == 1


async def test_what_is_deleted_is_gone_from_the_database_and_the_engine(talk) -> None:
    person = await talk()
    app, scope = person.app, person.scope
    kept, _ = await person.said("Отпуск оставить?")
    session_id, answer = await person.said("Отпуск удалить?")
    await person.said("Отпуск тоже удалить?", session_id=session_id)
    other, _ = await person.said("Отпуск и это?")
    assert len(await person.found("отпуск")) == 4
    await app.branches.delete_message(scope, session_id, answer)
    await app.sessions.delete(scope, other)
    await app.branches.clear(scope, session_id)
    assert await person.found("отпуск") == ["Отпуск оставить?"]
    hidden = app.access.history(scope)
    assert len(await app._engine.chunk_ids(hidden, hidden.bases[0].base_id)) == 1
    await app.sessions.delete_many(scope, [kept])
    assert await app._engine.chunk_ids(hidden, hidden.bases[0].base_id) == set()


async def test_what_the_engine_would_not_give_up_goes_with_the_next_search(talk, monkeypatch) -> None:
    person = await talk()
    app, scope = person.app, person.scope
    session_id, _ = await person.said("Отпуск?")
    await person.found("отпуск")

    async def down(*args, **kwargs):
        raise EngineError("it is down")

    with monkeypatch.context() as broken:
        broken.setattr(app._engine, "delete_documents", down)
        await app.sessions.delete(scope, session_id)
    hidden = app.access.history(scope)
    assert len(await app._engine.chunk_ids(hidden, hidden.bases[0].base_id)) == 1
    assert await person.found("отпуск") == []
    assert await app._engine.chunk_ids(hidden, hidden.bases[0].base_id) == set()


async def test_an_engine_made_anew_is_filled_by_the_next_search(talk, tmp_path) -> None:
    person = await talk()
    await person.said("Когда отпуск?")
    assert await person.found("отпуск") == ["Когда отпуск?"]
    await person.app.close()
    for path in (tmp_path / "data").glob("index.db*"):
        path.unlink()
    assert await (await talk()).found("отпуск") == ["Когда отпуск?"]


async def test_by_meaning_where_there_is_a_model(talk, monkeypatch) -> None:
    monkeypatch.setattr(history, "EMBED_STEP", 2)
    person = await talk(embedder=CheckedEmbedder(NullEmbedder()))
    for word in ("первый", "второй", "третий"):
        await person.said(f"Отпуск {word}?")
    result = await person.app.history.search(person.scope, "Отпуск третий?\nОтвет.", mode=SearchMode.SEMANTIC)
    assert result.warnings == ("1 earlier rounds are searched by words only so far.",)
    hybrid = await person.app.history.search(person.scope, "первый")
    assert hybrid.warnings == ()
    hidden = person.app.access.history(person.scope)
    ids = await person.app._engine.chunk_ids(hidden, hidden.bases[0].base_id, with_vector=True)
    assert len(ids) == 3
    assert hybrid.rounds[0].round_.question.content == "Отпуск первый?"


async def test_without_a_model_meaning_is_refused_and_words_are_the_way(talk) -> None:
    person = await talk()
    with pytest.raises(ModelNotConfigured):
        await person.app.history.search(person.scope, "отпуск", mode=SearchMode.SEMANTIC)
    with pytest.raises(InvalidInput):
        await person.app.history.search(person.scope, "  ")


async def test_reranked_where_a_model_is_set_and_its_failure_is_a_warning(talk) -> None:
    judge = ByLength()
    person = await talk(reranker=judge)
    await person.said("Отпуск, отпуск и ещё раз отпуск, длинный вопрос?")
    await person.said("Отпуск?")
    assert await person.found("отпуск") == ["Отпуск?", "Отпуск, отпуск и ещё раз отпуск, длинный вопрос?"]
    judge.fails = True
    result = await person.app.history.search(person.scope, "отпуск")
    assert len(result.rounds) == 2
    assert result.warnings == ("Messages were not reranked: it is down",)


async def test_tags_and_thinking_are_not_searched(talk) -> None:
    person = await talk(answer="<think>тайна</think>Да <kb/> правда")
    await person.said("Когда отпуск?")
    assert await person.found("тайна") == []
    assert await person.found("правда") == ["Когда отпуск?"]
