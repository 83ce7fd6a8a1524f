"""The page over the real application: a file in, an answer out, its citation opened, a reload and a stop on the way."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Page, expect

from opora.api.app import create_app
from opora.bootstrap import App, Models
from opora.ports import ChatDelta, ChatMessage, ChatOptions
from opora.settings import Settings

pytestmark = pytest.mark.browser

TRAVEL_RULES = Path(__file__).parents[2] / "samples" / "documents" / "Положение о командировках.pdf"
QUESTION = "Когда компенсируют дорогу после поездки?"
RULE = "Затраты на проезд сотрудник получает обратно, когда вернётся"


@dataclass
class GatedChat:
    """A chat model whose words come when the test hands them over; None ends the answer. A title comes at once."""

    sees_images = False

    identity: str = "gated"
    words: asyncio.Queue[str | None] = field(default_factory=asyncio.Queue)
    loop: asyncio.AbstractEventLoop | None = None

    def say(self, word: str | None) -> None:
        assert self.loop is not None
        self.loop.call_soon_threadsafe(self.words.put_nowait, word)

    async def stream(self, messages: Sequence[ChatMessage], options: ChatOptions) -> AsyncIterator[ChatDelta]:
        if messages[0].role != "system":
            yield ChatDelta(content="Возмещение дороги", finish_reason="stop")
            return
        while (word := await self.words.get()) is not None:
            yield ChatDelta(content=word)
        yield ChatDelta(finish_reason="stop")

    async def close(self) -> None:
        return None


@pytest.fixture
def chat_model(request: pytest.FixtureRequest) -> GatedChat | None:
    return GatedChat() if getattr(request, "param", False) else None


@pytest.fixture
def address(tmp_path: Path, chat_model: GatedChat | None) -> Iterator[str]:
    """A whole installation on an empty folder, found by words."""
    listener = socket.create_server(("127.0.0.1", 0))
    started = threading.Event()
    state: dict[str, Any] = {}

    async def serve() -> None:
        settings = Settings(data=tmp_path, embedding="none", retrieval={"enable_rewrite": False})
        app = await App.open(settings, models=Models(embedder=None, chat=chat_model))
        if chat_model is not None:
            chat_model.loop = asyncio.get_running_loop()
        config = uvicorn.Config(
            create_app(app), log_level="error", ws="none", lifespan="off", timeout_graceful_shutdown=1
        )
        state["server"] = server = uvicorn.Server(config)
        started.set()
        await server.serve(sockets=[listener])
        await app.close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert started.wait(60)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    state["server"].should_exit = True
    thread.join()


def bring_in(page: Page) -> None:
    page.goto("/")
    page.set_input_files("#files", TRAVEL_RULES)
    expect(page.locator("#documents .name")).to_have_text(TRAVEL_RULES.name)
    expect(page.locator("#documents .status")).to_have_text("готов")


def ask(page: Page, question: str = QUESTION) -> None:
    page.fill("#question", question)
    page.press("#question", "Enter")


def test_a_file_is_asked_and_its_quote_is_shown_on_the_page(page: Page) -> None:
    bring_in(page)
    ask(page)
    expect(page.locator(".label")).to_have_text("Цитаты из документов, а не написанный ответ")
    quote = page.locator(".answer blockquote", has_text=RULE)
    expect(quote).to_be_visible()
    quote.locator(".cite").click()
    expect(page.locator("#source-title")).to_have_text("Положение о командировках")
    expect(page.locator("#source-place")).to_contain_text("стр. 2")
    expect(page.locator("#source canvas")).to_be_visible()
    expect(page.locator("#source .box.quoted").first).to_be_in_viewport()
    page.get_by_role("button", name="Текст").click()
    expect(page.locator("#source mark.sentence")).to_contain_text(RULE)
    expect(page.locator("#source mark.sentence")).to_be_in_viewport()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Удалить документ").click()
    page.locator("dialog .danger").click()
    expect(page.locator("#documents li")).to_have_count(0)
    quote.locator(".cite").click()
    expect(page.locator("#source .notice")).to_contain_text("документ удалён или заменён")
    expect(page.locator("#source mark.sentence")).to_contain_text(RULE)


@pytest.mark.parametrize("chat_model", [True], indirect=True)
def test_an_answer_survives_a_reload_and_can_be_stopped(page: Page, chat_model: GatedChat) -> None:
    bring_in(page)
    ask(page)
    chat_model.say("После **возвращения**, ")
    text = page.locator(".answer").last.locator(".text").last
    expect(text).to_have_text("После возвращения,")
    page.reload()
    expect(page.locator(".question p")).to_have_text(QUESTION)
    expect(text).to_have_text("После возвращения,")
    for word in ("по документам ", '<ref id="', 'c1"/>', ".", None):
        chat_model.say(word)
    expect(page.locator(".answer").last).to_have_attribute("aria-busy", "false")
    expect(text).to_have_text("После возвращения, по документам 1.")
    page.locator(".cite").click()
    expect(page.locator("#source canvas")).to_be_visible()
    page.keyboard.press("Escape")
    ask(page, "А когда подают отчёт?")
    chat_model.say("В течение ")
    expect(text).to_have_text("В течение")
    page.click("#stop")
    expect(page.locator(".answer").last.locator(".notice").first).to_have_text("Остановлено")
    page.reload()
    expect(text).to_have_text("В течение")
    expect(page.locator(".answer").last.locator(".notice").first).to_have_text("Остановлено")
