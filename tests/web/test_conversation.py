"""The conversation: streaming, stopping, reloading in the middle, broken connections, two tabs, plain endings."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

if TYPE_CHECKING:
    from conftest import FakeApi

pytestmark = pytest.mark.browser

CITE = '<kb doc="Правила.md" chunk_id="c-1" kb_id="kb-1" knowledge_id="d-1"/>'
DONE = [{"response_type": "answer", "done": True}, {"response_type": "complete", "data": {"finish": "complete"}}]


def said(text: str, **data: Any) -> dict[str, Any]:
    return {"response_type": "answer", "content": text, **({"data": data} if data else {})}


def ask(page: Page, question: str = "Какой срок?") -> None:
    page.fill("#question", question)
    page.press("#question", "Enter")


def answer(page: Page) -> Any:
    return page.locator(".answer").last


def test_an_answer_streams_and_ends(page: Page, api: FakeApi) -> None:
    searching = {"response_type": "tool_call", "data": {"tool_name": "knowledge_search"}}
    api.script = [searching, "found", said("Три "), "half", said("дня."), *DONE]
    page.goto("/")
    ask(page)
    expect(page.locator(".phase")).to_have_text("Ищу в документах…")
    expect(page.locator("#send")).to_be_hidden()
    api.let("found")
    expect(answer(page).locator(".text").last).to_have_text("Три")
    expect(answer(page)).to_have_attribute("aria-busy", "true")
    api.let("half")
    expect(answer(page).locator(".text").last).to_have_text("Три дня.")
    expect(answer(page)).to_have_attribute("aria-busy", "false")
    expect(page.locator("#send")).to_be_visible()
    expect(page.locator("#announce")).to_have_text("Ответ готов")
    expect(page.locator("#sessions .name")).to_have_text("Какой срок?")
    assert api.calls_to("POST", "knowledge-chat")[0] == {"query": "Какой срок?", "knowledge_base_ids": ["kb-1"]}


def test_a_reload_in_the_middle_loses_nothing(page: Page, api: FakeApi) -> None:
    api.script = [said("Три "), "half", said("дня."), *DONE]
    page.goto("/")
    ask(page)
    expect(answer(page).locator(".text").last).to_have_text("Три")
    expect(page).to_have_url(re.compile("#s=s-1&m=m-1$"))
    page.reload()
    expect(page.locator(".question p")).to_have_text("Какой срок?")
    expect(answer(page).locator(".text").last).to_have_text("Три")
    expect(page.locator("#stop")).to_be_visible()
    api.let("half")
    expect(answer(page).locator(".text").last).to_have_text("Три дня.")
    expect(page).to_have_url(re.compile("#s=s-1$"))
    page.reload()
    expect(answer(page).locator(".text").last).to_have_text("Три дня.")
    expect(page.locator(".question")).to_have_count(1)


def test_a_broken_connection_is_taken_up_behind_the_last_event(page: Page, api: FakeApi) -> None:
    api.script = [said("раз "), said("два "), said("три"), *DONE]
    api.break_after = 3
    page.goto("/")
    ask(page)
    expect(answer(page)).to_have_attribute("aria-busy", "false")
    expect(answer(page).locator(".text").last).to_have_text("раз два три")
    assert api.resumed_from == ["2"]


def test_stop_keeps_what_was_written(page: Page, api: FakeApi) -> None:
    api.script = [said("Начало"), "never", said("конец"), *DONE]
    page.goto("/")
    ask(page)
    expect(answer(page).locator(".text").last).to_have_text("Начало")
    page.click("#stop")
    expect(answer(page).locator(".notice")).to_have_text("Остановлено")
    expect(answer(page).locator(".text").last).to_have_text("Начало")
    expect(page.locator("#send")).to_be_visible()
    assert api.calls_to("POST", "stop") == [{"message_id": "m-1"}]


def test_two_tabs_show_the_same(page: Page, api: FakeApi) -> None:
    api.script = [said("Первый."), *DONE]
    page.goto("/")
    ask(page)
    expect(answer(page)).to_have_attribute("aria-busy", "false")
    other = page.context.new_page()
    other.goto(page.url)
    expect(answer(other).locator(".text").last).to_have_text("Первый.")
    api.script = [said("Второй "), "half", said("ответ."), *DONE]
    ask(page, "А дальше?")
    expect(other.locator(".question p").last).to_have_text("А дальше?")
    expect(answer(other).locator(".text").last).to_have_text("Второй")
    api.let("half")
    for tab in (page, other):
        expect(answer(tab).locator(".text").last).to_have_text("Второй ответ.")
        expect(answer(tab)).to_have_attribute("aria-busy", "false")


def test_each_citation_says_what_the_check_found(page: Page, api: FakeApi) -> None:
    checked = {"citations": [{"support": "supported"}, {"support": "not_found"}]}
    api.script = [
        said(f"Три дня.{CITE} А ещё пять.{CITE}"),
        {"response_type": "citations_checked", "data": checked},
        *DONE,
    ]
    page.goto("/")
    ask(page)
    first, second = answer(page).locator(".cite").first, answer(page).locator(".cite").last
    expect(first).to_have_attribute("aria-label", "Источник 1: Правила.md. Слова найдены в источнике")
    expect(second).to_have_attribute("aria-label", "Источник 1: Правила.md. В источнике этих слов нет")
    expect(second).to_have_attribute("data-support", "not_found")
    expect(first).to_have_text("1")
    api.messages[-1]["citation_support"] = ["partly", "supported"]
    page.reload()
    expect(answer(page).locator(".cite").first).to_have_attribute("data-support", "partly")


def test_a_check_of_other_citations_than_are_shown_marks_none(page: Page, api: FakeApi) -> None:
    checked = {"citations": [{"support": "supported"}]}
    api.script = [said(f"Раз.{CITE} Два.{CITE}"), {"response_type": "citations_checked", "data": checked}, *DONE]
    page.goto("/")
    ask(page)
    expect(answer(page)).to_have_attribute("aria-busy", "false")
    expect(answer(page).locator(".cite[data-support]")).to_have_count(0)


@pytest.mark.parametrize(
    ("finish", "words"),
    [
        ("truncated", "Ответ оборван: достигнут предел длины"),
        ("interrupted", "Ответ прервался: сервер был остановлен"),
        ("nothing_found", "В документах ничего не нашлось"),
    ],
)
def test_how_an_answer_ended_is_said(page: Page, api: FakeApi, finish: str, words: str) -> None:
    api.script = [said("Текст"), {"response_type": "complete", "data": {"finish": finish}}]
    page.goto("/")
    ask(page)
    expect(answer(page).locator(".notice")).to_have_text(words)
    page.reload()
    expect(answer(page).locator(".notice")).to_have_text(words)


def test_an_error_is_said_plainly_and_can_be_asked_again(page: Page, api: FakeApi) -> None:
    error = {"response_type": "error", "content": "Модель не отвечает.", "done": True}
    api.script = [said("Часть"), error, {"response_type": "complete", "data": {"finish": "error"}}]
    page.goto("/")
    ask(page)
    expect(answer(page).locator(".notice.bad")).to_have_text("Модель не отвечает.")
    expect(answer(page).locator(".text").last).to_have_text("Часть")
    api.script = [said("Готово."), *DONE]
    page.get_by_role("button", name="Спросить ещё раз").click()
    expect(answer(page).locator(".text").last).to_have_text("Готово.")
    expect(page.locator(".question")).to_have_count(2)


def test_quotes_are_labelled_as_quotes_also_after_a_reload(page: Page, api: FakeApi) -> None:
    api.script = [said(f"> Три дня. {CITE}", extractive=True), *DONE]
    page.goto("/")
    ask(page)
    label = page.locator(".answer .label")
    expect(label).to_have_text("Цитаты из документов, а не написанный ответ")
    expect(answer(page)).to_have_attribute("aria-busy", "false")
    api.messages[1]["extractive"] = True
    page.reload()
    expect(label).to_have_text("Цитаты из документов, а не написанный ответ")


def test_warnings_of_the_search_are_shown(page: Page, api: FakeApi) -> None:
    result = {"response_type": "tool_result", "data": {"tool_name": "knowledge_search", "warnings": ["Rerank failed."]}}
    api.script = [result, said("Ответ"), *DONE]
    page.goto("/")
    ask(page)
    expect(answer(page).locator(".ending")).to_contain_text("Rerank failed.")


def test_an_unknown_conversation_is_said_and_left(page: Page, api: FakeApi) -> None:
    page.route(
        "**/messages/**", lambda route: route.fulfill(status=404, json={"error": {"message": "Нет такой беседы."}})
    )
    page.goto("/#s=gone")
    expect(page.locator("#problem")).to_have_text("Нет такой беседы.")
    expect(page.locator("#welcome")).to_be_visible()
    expect(page).to_have_url(re.compile("/$"))


def test_back_returns_to_the_conversation_before(page: Page, api: FakeApi) -> None:
    api.script = [said("Первый."), *DONE]
    page.goto("/")
    ask(page)
    expect(answer(page)).to_have_attribute("aria-busy", "false")
    page.click("#session-new")
    expect(page.locator("#welcome")).to_be_visible()
    page.go_back()
    expect(answer(page).locator(".text").last).to_have_text("Первый.")


def test_shift_enter_makes_a_line(page: Page, api: FakeApi) -> None:
    api.script = [said("Да."), *DONE]
    page.goto("/")
    page.fill("#question", "раз")
    page.press("#question", "Shift+Enter")
    page.keyboard.type("два")
    page.press("#question", "Enter")
    expect(page.locator(".question p")).to_have_text("раз\nдва", use_inner_text=True)


def test_a_key_is_asked_for_and_kept(page: Page, api: FakeApi) -> None:
    api.key = "sk-secret"
    page.goto("/")
    page.get_by_role("textbox", name="Ключ").fill("sk-secret")
    page.get_by_role("button", name="Войти").click()
    expect(page.locator("#base option")).to_have_text("Правила")
    page.reload()
    expect(page.locator("#base option")).to_have_text("Правила")
    expect(page.locator("dialog")).to_have_count(0)


def test_pictures_of_a_question_are_shown_with_it_as_data(page: Page, api: FakeApi) -> None:
    out = io.BytesIO()
    Image.new("RGB", (40, 30), "red").save(out, "PNG")
    api.page_png = out.getvalue()
    hostile = '"><script>document.title = "x"</script>'
    images = [{"id": "i-1", "caption": hostile}, {"id": "i-2", "caption": ""}]
    shared = {"session_id": "s-1", "request_id": "r-1", "is_completed": True, "created_at": "2025-01-01T00:00:00Z"}
    api.sessions = [{"id": "s-1", "title": "Снимок"}]
    api.messages = [
        {"id": "m-1", "role": "user", "content": "", "images": images, **shared},
        {"id": "m-2", "role": "assistant", "content": "Частично", "finish": "stopped", **shared},
    ]
    page.goto("/#s=s-1")
    picture = page.locator(".question .pictures img")
    expect(page.locator(".question .notice")).to_have_count(1)  # until then the second picture stands there too
    expect(picture).to_have_attribute("alt", hostile)
    expect(picture).to_have_js_property("naturalWidth", 40)
    expect(page.locator(".question > p")).to_have_count(0)
    expect(answer(page).locator(".actions button")).to_have_count(1)
    expect(page).not_to_have_title("x")
