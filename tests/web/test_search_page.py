"""The page `/search` and the presentation in a browser: without scripts, by keyboard, in three languages, on a phone.

Pictures of them are left in ``build/screenshots``.
"""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import uvicorn
from playwright.sync_api import Page, expect

from opora.api.app import create_app
from opora.bootstrap import App
from opora.domain.scope import LOCAL_PRINCIPAL, BaseRef, Scope
from opora.ports import Page as PageOf
from opora.settings import Settings

pytestmark = pytest.mark.browser

PICTURES = Path(__file__).parents[2] / "build" / "screenshots"
SAMPLES = Path(__file__).parents[2] / "samples" / "documents"
FILES = ("Положение о командировках.pdf", "员工手册.md")
SAME = "# Памятка\n\nБилеты прикладывают к отчёту о поездке.\n\n" * 13
"""Ten of its pieces are found, so three can only be neighbours."""
known: dict[str, str] = {}
"""What the tests must know of the filled installation: the text of a piece, as its vector was made of it."""
NO_SCRIPTS = {"java_script_enabled": False}
PHONE = {**NO_SCRIPTS, "viewport": {"width": 360, "height": 740}}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A whole installation with documents in it; vectors without meaning, so only equal texts are close."""
    listener = socket.create_server(("127.0.0.1", 0))
    started = threading.Event()
    state: dict[str, Any] = {}

    async def serve() -> None:
        app = await App.open(Settings(data=tmp_path_factory.mktemp("pages"), embedding="null"))
        await fill(app)
        config = uvicorn.Config(
            create_app(app), log_level="error", ws="none", lifespan="off", timeout_graceful_shutdown=1
        )
        state["server"] = server = uvicorn.Server(config)
        started.set()
        await server.serve(sockets=[listener])
        await app.close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert started.wait(120)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    state["server"].should_exit = True
    thread.join()


async def fill(app: App) -> None:
    base = await app.bases.create(Scope(principal=LOCAL_PRINCIPAL), name="Правила")
    ref = BaseRef(base_id=base.base_id, tenant_id=LOCAL_PRINCIPAL.tenant_id)
    scope = Scope(principal=LOCAL_PRINCIPAL, bases=(ref,))
    ids = []
    for name in FILES:
        added = await app.documents.add_file(scope, base.base_id, file_name=name, data=(SAMPLES / name).read_bytes())
        ids.append(added.document_id)
    ids.append((await app.documents.add_text(scope, base.base_id, title="Памятка", content=SAME)).document_id)
    await app.documents.wait(scope, ids, timeout=120)
    known["piece"] = (await app.chunks.browse(scope, ids[-1], PageOf())).items[0].search_text


def picture(page: Page, name: str) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.png", full_page=True)


@pytest.mark.parametrize("page", [NO_SCRIPTS], indirect=True)
def test_a_plain_search_needs_no_script(page: Page) -> None:
    page.goto("/search")
    expect(page.get_by_role("radio", name="вместе")).to_be_checked()
    page.get_by_label("Что найти").fill("Когда возмещают проезд?")
    page.get_by_role("button", name="Найти").click()
    expect(page).to_have_url(re.compile("search_type=hybrid"))
    first = page.get_by_role("article").first
    expect(first.get_by_role("heading")).to_have_text("Положение о командировках")
    expect(first.locator("mark").first).to_be_visible()
    expect(first.locator(".scores")).to_contain_text("сумма мест (RRF)")
    expect(page.get_by_role("status").first).to_contain_text("Найдено фрагментов: 10")
    picture(page, "search-ru")
    leaf = page.locator(".where a", has_text="стр.").first.get_attribute("href")
    assert leaf is not None
    assert page.request.get(leaf).headers["content-type"] == "image/png"


@pytest.mark.parametrize("page", [NO_SCRIPTS], indirect=True)
def test_neighbours_are_seen_to_be_neighbours(page: Page) -> None:
    page.goto(f"/search?search_type=semantic&q={quote(known['piece'])}")
    neighbours = page.get_by_role("list", name="Соседние фрагменты").get_by_role("listitem")
    expect(neighbours.first).to_contain_text("близость к фрагменту")
    expect(neighbours.first).to_contain_text("1.00")
    expect(page.get_by_role("radio", name="по смыслу")).to_be_checked()
    picture(page, "search-neighbours")


def test_the_page_is_worked_by_keyboard(page: Page) -> None:
    page.goto("/search")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="К содержанию")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_label("Что найти")).to_be_focused()
    page.keyboard.type("билеты")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Найти")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("radio", name="по словам")).to_be_checked()
    page.keyboard.press("Enter")
    expect(page.get_by_role("list", name="Результаты").locator("mark").first).to_have_text("билеты", ignore_case=True)
    expect(page.get_by_role("radio", name="по словам")).to_be_checked()
    expect(page.locator(".scores").first).to_contain_text("по словам: место 1")


@pytest.mark.parametrize("page", [NO_SCRIPTS], indirect=True)
def test_what_can_be_read_has_names_and_order(page: Page) -> None:
    page.goto("/search?q=проезд")
    assert page.locator("html").get_attribute("lang") == "ru"
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    expect(page.get_by_role("search")).to_have_count(1)
    expect(page.get_by_role("group", name="Как искать")).to_have_count(1)
    expect(page.get_by_role("main")).to_have_count(1)
    assert page.title().startswith("проезд · Поиск")
    unnamed = page.locator("article:not([aria-labelledby])")
    expect(unnamed).to_have_count(0)
    ids = [node.get_attribute("id") for node in page.locator("[id]").all()]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("page", [PHONE], indirect=True)
@pytest.mark.parametrize(("language", "title"), [("Eng", "Search the documents"), ("中文", "搜索文档")])
def test_the_language_is_changed_and_the_question_stays_on_a_phone(page: Page, language: str, title: str) -> None:
    page.goto("/search?q=报销")
    page.get_by_role("link", name=language).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    expect(page.locator("#q")).to_have_value("报销")
    expect(page.locator("article mark").first).to_contain_text("报销")
    picture(page, f"search-phone-{'en' if language == 'Eng' else 'zh'}")


def test_nothing_is_wider_than_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    for path in ("/search?q=проезд", "/presentation?q=проезд"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path


@pytest.mark.parametrize("page", [NO_SCRIPTS], indirect=True)
def test_the_presentation_shows_a_document_and_a_search_of_the_readers_own(page: Page) -> None:
    page.goto("/search")
    page.get_by_role("link", name="Как это работает").click()
    page.get_by_label("Документ").select_option(label="Положение о командировках")
    page.get_by_label("Что найти").fill("Билеты прикладывают к отчёту о поездке")
    page.get_by_role("button", name="Найти").click()
    headings = page.locator("section > h2")
    expect(headings).to_have_count(6)
    expect(page.locator("dl.facts")).to_contain_text("Положение о командировках.pdf")
    expect(page.locator("section ol.pieces").first.get_by_role("listitem")).to_have_count(3)
    expect(page.get_by_role("table")).to_have_count(3)
    expect(page.get_by_role("table").last).to_contain_text("1/(60+")
    picture(page, "presentation-ru")


def test_the_conversation_page_leads_to_both(page: Page) -> None:
    page.goto("/")
    page.get_by_role("link", name="Поиск по документам").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Поиск по документам")
    page.get_by_role("link", name="Беседа").click()
    page.get_by_role("link", name="Как это работает").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Как документ становится фрагментами")


@pytest.mark.parametrize("page", [NO_SCRIPTS], indirect=True)
def test_without_scripts_the_conversation_page_leads_to_the_search(page: Page) -> None:
    page.goto("/")
    page.locator("noscript a").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Поиск по документам")
