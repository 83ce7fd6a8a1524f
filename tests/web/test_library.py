"""The left side: files in, their way to ready or failed, deletion, bases, language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Page, expect

if TYPE_CHECKING:
    from conftest import FakeApi

pytestmark = pytest.mark.browser


def row(document_id: str, **more: Any) -> dict[str, Any]:
    return {"id": document_id, "title": document_id, "file_name": document_id, "error_message": "", **more}


def test_dropped_files_are_sent_and_become_ready(page: Page, api: FakeApi) -> None:
    page.goto("/")
    expect(page.locator("#documents-none")).to_be_visible()
    page.set_input_files(
        "#files", [{"name": n, "mimeType": "text/plain", "buffer": b"text"} for n in ("a.txt", "б.md")]
    )
    expect(page.locator("#documents .status")).to_have_text(["в очереди", "в очереди"])
    assert {name.inner_text() for name in page.locator("#documents .name").all()} == {"a.txt", "б.md"}
    api.documents[0].update(parse_status="processing", chunk_count=8, embedded_count=2)
    expect(page.locator("#documents .status").first).to_have_text("поиск по словам уже работает; векторы 2 из 8")
    expect(page.locator("#documents progress").first).to_have_js_property("value", 0.25)
    api.documents[0].update(progress={"chunks": 8, "embedded": 4, "seconds_left": 12.2})
    expect(page.locator("#documents .status").first).to_have_text("поиск по словам уже работает; векторы: ещё ~12 с")
    for each in api.documents:
        each.update(parse_status="completed")
    expect(page.locator("#documents .status")).to_have_text(["готов", "готов"])


def test_files_that_come_before_the_bases_are_known_wait_for_them(page: Page, api: FakeApi) -> None:
    held: list[Any] = []
    page.route("**/knowledge-bases?*", lambda route: held.append(route))
    with page.expect_request("**/knowledge-bases?*"):
        page.goto("/")
    page.set_input_files("#files", {"name": "a.txt", "mimeType": "text/plain", "buffer": b"text"})
    held[0].continue_()
    expect(page.locator("#documents .status")).to_have_text("в очереди")
    expect(page.locator("#base option")).to_have_text("Правила")
    assert api.calls_to("POST", "knowledge-bases/kb-1/knowledge/file")


def test_a_drop_on_the_page_sends_the_file(page: Page, api: FakeApi) -> None:
    page.goto("/")
    expect(page.locator("#base option")).to_have_count(1)
    page.evaluate(
        """() => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File(['text'], 'dropped.txt', {type: 'text/plain'}));
          for (const type of ['dragenter', 'dragover', 'drop']) {
            const event = new DragEvent(type, {dataTransfer, bubbles: true, cancelable: true});
            document.querySelector('main').dispatchEvent(event);
          }
        }"""
    )
    expect(page.locator("#documents .name")).to_have_text("dropped.txt")


@pytest.mark.parametrize(
    ("status", "message", "shown"),
    [(413, "The request is longer than 50 MB.", "longer than 50 MB"), (409, "There already.", "уже есть в базе")],
)
def test_a_refused_file_says_why(page: Page, api: FakeApi, status: int, message: str, shown: str) -> None:
    api.refuse = (status, message)
    page.goto("/")
    page.set_input_files("#files", {"name": "a.txt", "mimeType": "text/plain", "buffer": b"text"})
    expect(page.locator("#documents .status")).to_contain_text(shown)
    page.get_by_role("button", name="Убрать: a.txt").click()
    expect(page.locator("#documents li")).to_have_count(0)


def test_a_failed_document_shows_its_reason(page: Page, api: FakeApi) -> None:
    api.documents = [
        row("a.pdf", parse_status="failed", error_reason="no_text", error_message="This scan holds no text."),
        row("b.pdf", parse_status="failed", error_reason="encrypted"),
    ]
    page.goto("/")
    expect(page.locator("#documents .status").first).to_contain_text("This scan holds no text.")
    expect(page.locator("#documents .status").last).to_contain_text("Файл защищён паролем.")


def test_deleting_asks_first(page: Page, api: FakeApi) -> None:
    api.documents = [row("a.md", parse_status="completed"), row("b.md", parse_status="completed")]
    page.goto("/")
    delete = page.get_by_role("button", name="Удалить документ: a.md")
    delete.click()
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    expect(page.locator("#documents li")).to_have_count(2)
    delete.click()
    page.locator("dialog .danger").click()
    expect(page.locator("#documents .name")).to_have_text(["b.md"])
    assert len(api.calls_to("DELETE", "knowledge/a.md")) == 1


def test_a_redraw_keeps_the_focus(page: Page, api: FakeApi) -> None:
    api.documents = [row("a.md", parse_status="processing", chunk_count=8, embedded_count=1)]
    page.goto("/")
    page.locator("#documents .name").focus()
    api.documents[0].update(embedded_count=7)
    expect(page.locator("#documents .status")).to_contain_text("7 из 8")
    expect(page.locator("#documents .name")).to_be_focused()


def test_all_bases_are_asked_and_take_no_files(page: Page, api: FakeApi) -> None:
    api.bases.append({"id": "kb-2", "name": "Вторая"})
    api.script = [{"response_type": "complete", "data": {"finish": "nothing_found"}}]
    page.goto("/")
    page.select_option("#base", label="Все базы")
    expect(page.locator("#drop")).to_be_hidden()
    expect(page.locator("#documents-title")).to_be_hidden()
    page.fill("#question", "Где?")
    page.press("#question", "Enter")
    expect(page.locator(".answer .notice")).to_be_visible()
    assert api.calls_to("POST", "knowledge-chat") == [{"query": "Где?"}]


def test_the_language_follows_the_browser_and_the_switch(page: Page, api: FakeApi) -> None:
    api.documents = [row("a.md", parse_status="completed")]
    page.goto("/")
    expect(page.locator("#welcome h1")).to_have_text("Спросите свои документы")
    page.get_by_role("button", name="Eng").click()
    expect(page.locator("#welcome h1")).to_have_text("Ask your documents")
    expect(page.locator("#documents .status")).to_have_text("ready")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    page.reload()
    expect(page.locator("#welcome h1")).to_have_text("Ask your documents")
    page.get_by_role("button", name="中文").click()
    expect(page.get_by_placeholder("您想了解什么？")).to_be_visible()


@pytest.mark.parametrize("page", [{"locale": "zh-CN"}], indirect=True)
def test_a_chinese_browser_gets_chinese(page: Page) -> None:
    page.goto("/")
    expect(page.locator("#welcome h1")).to_have_text("向您的文档提问")


def test_every_control_has_a_name(page: Page, api: FakeApi) -> None:
    api.documents = [row("a.md", parse_status="completed")]
    page.goto("/")
    expect(page.locator("#documents li")).to_have_count(1)
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('button, input:not([hidden]), select, textarea')]
          .filter((node) => !node.innerText?.trim() && !node.getAttribute('aria-label') && !node.labels?.length)
          .map((node) => node.outerHTML)"""
    )
    assert nameless == []


def test_all_words_are_there_in_all_languages(page: Page) -> None:
    page.goto("/")
    missing = page.evaluate(
        """async () => {
          const { t, has, LANGUAGES, setLanguage } = await import('/static/i18n.js');
          const names = ['app', 'api', 'conversation', 'dialog', 'library', 'message', 'page', 'source', 'uploads'];
          const texts = await Promise.all(names.map(async (name) => (await fetch(`/static/${name}.js`)).text()));
          const html = await (await fetch('/')).text();
          const called = [...texts.join('\\n').matchAll(/\\bt\\("(\\w+)"/g)];
          const marked = [...html.matchAll(/data-t(?:-\\w+)?="(\\w+)"/g)];
          const used = [...called, ...marked].map(([, key]) => key);
          const empty = LANGUAGES.flatMap((language) => (setLanguage(language), used.filter((key) => !t(key))));
          return [...used.filter((key) => !has(key)), ...empty, ...(used.length < 80 ? ['too few found'] : [])];
        }"""
    )
    assert missing == []
