"""A running application with words only, one document, and a chat model that says what a test tells it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from opora.bootstrap import App, Models
from opora.domain.scope import LOCAL_PRINCIPAL, Scope
from opora.domain.stream import StreamEvent
from opora.models.scripted import ScriptedChat
from opora.ports import ChatModel, Reranker
from opora.settings import Settings

TEXT = """# Командировки

Расходы на проезд возмещают по документам после возвращения.

# Отпуск

Ежегодный отпуск длится двадцать восемь календарных дней.
"""

OpenApp = Callable[..., Awaitable["Talk"]]


class Talk:
    """An application, a session in it, and short words for what tests do."""

    def __init__(self, app: App, scope: Scope, session_id: str) -> None:
        self.app = app
        self.scope = scope
        self.session_id = session_id
        self.last = ""

    async def ask(self, text: str, **options: object) -> str:
        asked = await self.app.chat.ask(self.scope, self.session_id, text, **options)
        self.last = asked.assistant_message_id
        return self.last

    async def events(self, message_id: str = "", from_offset: int = 0) -> list[StreamEvent]:
        followed = self.app.chat.follow(self.scope, self.session_id, message_id or self.last, from_offset)
        return [event async for _, event in followed]

    async def answer(self, text: str, **options: object) -> list[StreamEvent]:
        await self.ask(text, **options)
        return await self.events()

    async def message(self, message_id: str = ""):
        return await self.app.sessions.message(self.scope, message_id or self.last)


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[OpenApp]:
    """Call it with a chat model (or None) to open an application on the test's folder, again and again."""
    opened: list[App] = []

    async def open_app(
        chat: ChatModel | None = None,
        *,
        with_document: bool = True,
        reranker: Reranker | None = None,
        title: str = "Разговор",
    ) -> Talk:
        settings = Settings(data=tmp_path / "data", embedding="none")
        app = await App.open(settings, models=Models(embedder=None, chat=chat, reranker=reranker))
        opened.append(app)
        tenant = await app.access.tenant(LOCAL_PRINCIPAL)
        if with_document and not (await app.access.bases(LOCAL_PRINCIPAL)).bases:
            base = await app.bases.create(tenant, name="Правила")
            scope = await app.access.bases(LOCAL_PRINCIPAL, [base.base_id])
            document = await app.documents.add_text(scope, base.base_id, title="Правила", content=TEXT)
            await app.documents.wait(scope, [document.document_id], timeout=60)
        scope = await app.access.bases(LOCAL_PRINCIPAL)
        # A session with a title asks the model for none, so that a script is read by the answers alone.
        session = await app.sessions.create(tenant, title="" if chat is None else title)
        return Talk(app, scope, session.session_id)

    yield open_app
    for app in opened:
        await app.close()


@pytest.fixture
def scripted() -> type[ScriptedChat]:
    return ScriptedChat
