"""A FAQ entry that must not answer the user's very words is in no list, however the question was rewritten."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from opora.bootstrap import App, Models
from opora.domain.knowledge import BaseType, Chunk, ChunkType, KnowledgeBase
from opora.domain.scope import LOCAL_PRINCIPAL, Scope
from opora.domain.search import IndexRow
from opora.models.scripted import ScriptedChat
from opora.settings import Settings

SILENT, SPEAKING = "Как вернуть товар?", "Как вернуть товар по гарантии"
ENTRIES = {
    "q1": {
        "standard_question": SILENT,
        "negative_questions": ["Как вернуть товар по гарантии?"],
        "answers": ["Заполните форму в кабинете."],
    },
    "q2": {"standard_question": SPEAKING, "answers": ["Обратитесь в сервис."]},
}
REWRITTEN = '{"rewrite_query": "Как вернуть товар", "intent": "kb_search"}'


async def add_entries(app: App) -> tuple[Scope, KnowledgeBase]:
    base = await app.bases.create(await app.access.tenant(LOCAL_PRINCIPAL), name="Вопросы", base_type=BaseType.FAQ)
    scope = await app.access.bases(LOCAL_PRINCIPAL, [base.base_id])
    document = await app.documents.add_text(scope, base.base_id, title="Вопросы", content="Пустая карточка.")
    await app.documents.wait(scope, [document.document_id], timeout=30)
    document = await app.documents.get(scope, document.document_id)
    owner = {"base_id": base.base_id, "tenant_id": base.tenant_id, "document_id": document.document_id}
    chunks = [
        Chunk(
            chunk_id=chunk_id,
            chunk_index=index,
            content=str(entry["standard_question"]),
            chunk_type=ChunkType.FAQ,
            metadata=entry,
            **owner,
        )
        for index, (chunk_id, entry) in enumerate(ENTRIES.items())
    ]
    async with app._database.begin() as stored:
        await stored.chunks.replace_document(scope, document, chunks)
    rows = [IndexRow(chunk_id=c.chunk_id, text=c.content, chunk_type=c.chunk_type, **owner) for c in chunks]
    await app._engine.write(scope, rows)
    return scope, base


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[tuple[App, ScriptedChat]]:
    chat = ScriptedChat([REWRITTEN])
    app = await App.open(Settings(data=tmp_path, embedding="none"), models=Models(embedder=None, chat=chat))
    yield app, chat
    await app.close()


async def ask(app: App, scope: Scope, session_id: str, question: str) -> Sequence[str]:
    """The ids of the references of the answer to ``question``."""
    asked = await app.chat.ask(scope, session_id, question)
    async for _ in app.chat.follow(scope, session_id, asked.assistant_message_id):
        pass
    message = await app.sessions.message(scope, asked.assistant_message_id)
    return [reference.chunk_id for reference in message.references]


async def test_neither_another_wording_nor_the_last_answer_brings_it_back(opened: tuple[App, ScriptedChat]) -> None:
    app, chat = opened
    scope, _ = await add_entries(app)
    session = await app.sessions.create(await app.access.tenant(LOCAL_PRINCIPAL))
    assert "q1" in await ask(app, scope, session.session_id, "Как вернуть товар?")
    chat.asked.clear()
    for question in ("Как вернуть товар по гарантии?", "  КАК ВЕРНУТЬ ТОВАР  ПО ГАРАНТИИ? "):
        assert await ask(app, scope, session.session_id, question) == ["q2"]
    # The history of the prompt holds what was asked and answered before, never the entry itself.
    assert not any("Заполните форму" in message.content for prompt in chat.asked for message in prompt)
    assert "q1" in await ask(app, scope, session.session_id, "Как вернуть товар по гарантии? Срочно")
