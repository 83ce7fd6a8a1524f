"""A whole application on an empty folder, spoken to without a network or over a loopback port."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import httpx2
import pytest
import pytest_asyncio
import uvicorn
from fastapi import FastAPI

from opora.api.app import create_app
from opora.bootstrap import App
from opora.bootstrap import app as composition
from opora.bootstrap.models import Models
from opora.domain.knowledge import KnowledgeBase
from opora.domain.scope import LOCAL_PRINCIPAL, BaseRef, Principal, Scope
from opora.ports import ChatDelta, ChatMessage, ChatOptions, Page
from opora.settings import Settings

QUESTION = "Когда возмещают проезд?"
PASSAGE = "Расходы на проезд возмещают после возвращения из командировки."
STRANGER = Principal(tenant_id="another-tenant", user_id="stranger")
COLLEAGUE = Principal(tenant_id=LOCAL_PRINCIPAL.tenant_id, user_id="colleague")


@dataclass
class GatedChat:
    """A chat model whose words come when the test hands them over; None ends the answer."""

    identity: str = "gated"
    sees_images: bool = False
    words: asyncio.Queue[str | None] = field(default_factory=asyncio.Queue)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)

    async def stream(self, messages: Sequence[ChatMessage], options: ChatOptions) -> AsyncIterator[ChatDelta]:
        try:
            while (word := await self.words.get()) is not None:
                yield ChatDelta(content=word)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        yield ChatDelta(finish_reason="stop")

    async def close(self) -> None:
        return None


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    """Words only, answers by quotes: nothing to load."""
    opened = await App.open(Settings(data=tmp_path, embedding="none", upload_limit=200_000))
    yield opened
    await opened.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_app(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[App]:
    """One application for all tests of a module that keep to bases of their own."""
    folder = tmp_path_factory.mktemp("shared")
    opened = await App.open(Settings(data=folder, embedding="none", upload_limit=200_000))
    yield opened
    await opened.close()


@pytest.fixture
def chat_model() -> GatedChat:
    return GatedChat()


@pytest.fixture
async def written(tmp_path: Path, chat_model: GatedChat, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[App]:
    """The same with a chat model in the test's hands."""

    async def make_models(settings: Settings, stack: object) -> Models:
        return Models(embedder=None, chat=chat_model)

    monkeypatch.setattr(composition, "make_models", make_models)
    opened = await App.open(Settings(data=tmp_path, embedding="none"))
    yield opened
    await opened.close()


_made: WeakKeyDictionary[App, FastAPI] = WeakKeyDictionary()


def application(app: App) -> FastAPI:
    """Made once for each: describing all routes takes a tenth of a second."""
    if app not in _made:
        _made[app] = create_app(app)
    return _made[app]


@contextlib.asynccontextmanager
async def client_of(app: App, **options: Any) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(application(app))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", **options) as client:
        yield client


@pytest.fixture
async def http(app: App) -> AsyncIterator[httpx2.AsyncClient]:
    async with client_of(app) as client:
        yield client


@contextlib.asynccontextmanager
async def serving(app: App) -> AsyncIterator[httpx2.AsyncClient]:
    """A real server on a loopback port: the test transport gathers a whole answer, this one streams."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(application(app), log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=2)
    )
    started = asyncio.Event()
    begin = server.startup

    async def startup(sockets: list[socket.socket] | None = None) -> None:
        await begin(sockets)
        started.set()

    server.startup = startup  # type: ignore[method-assign]
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    task = asyncio.create_task(server.serve(sockets=[listener]))
    await started.wait()
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with httpx2.AsyncClient(base_url=address, trust_env=False, timeout=10) as client:
        yield client
    server.should_exit = True
    await task
    listener.close()


@pytest.fixture
async def served(written: App) -> AsyncIterator[httpx2.AsyncClient]:
    async with serving(written) as client:
        yield client


def scope_of(principal: Principal, *base_ids: str) -> Scope:
    return Scope(
        principal=principal, bases=tuple(BaseRef(base_id=one, tenant_id=principal.tenant_id) for one in base_ids)
    )


async def add_base(app: App, principal: Principal, name: str = "База") -> KnowledgeBase:
    """An empty base, with a number behind its name where the name is taken."""
    there = (await app.bases.browse(scope_of(principal), Page(), name=name)).total
    return await app.bases.create(scope_of(principal), name=f"{name} {there + 1}" if there else name)


async def add_text(app: App, principal: Principal, content: str = PASSAGE, title: str = "Проезд") -> tuple[str, str]:
    """A base with one document that is ready; the ids of both."""
    base = await add_base(app, principal)
    scope = scope_of(principal, base.base_id)
    document = await app.documents.add_text(scope, base.base_id, title=title, content=content)
    await app.documents.wait(scope, [document.document_id], timeout=30)
    return base.base_id, document.document_id
