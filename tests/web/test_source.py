"""A citation opens its document at the place: text, sentence, page with boxes, rows; or says that it is gone."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

if TYPE_CHECKING:
    from conftest import FakeApi

pytestmark = pytest.mark.browser

SENTENCE = "Деньги приходят через пять дней."
PASSAGE = f"Проезд оплачивают по билетам.\n{SENTENCE} Чеки нужно сохранить."
CITE = '<kb doc="Правила" chunk_id="c-1" kb_id="kb-1" knowledge_id="d-1"/>'


def known(api: FakeApi, text: str, place: dict[str, Any], *, content: str = PASSAGE, **document: Any) -> None:
    row = {"id": "d-1", "title": "Правила", "file_name": "Правила.md", "file_type": "md", "parse_status": "completed"}
    api.documents = [{**row, **document}]
    api.texts["d-1"] = text
    api.chunks["c-1"] = {"id": "c-1", "knowledge_id": "d-1", "content": content, "place": place}


def asked(page: Page, api: FakeApi, answer: str) -> None:
    reference = {
        "id": "c-1",
        "content": PASSAGE,
        "knowledge_id": "d-1",
        "knowledge_title": "Правила",
        "place": {"page": 2},
    }
    api.script = [
        {"response_type": "references", "knowledge_references": [reference]},
        {"response_type": "answer", "content": answer},
        {"response_type": "complete", "data": {"finish": "complete"}},
    ]
    page.goto("/")
    page.fill("#question", "Когда?")
    page.press("#question", "Enter")
    expect(page.locator(".answer[aria-busy=false] .actions")).to_be_visible()


@pytest.mark.parametrize("before", ["", "Вступление. ", "🙂🚀 Эмодзи занимают две единицы 𝔘. "])
def test_the_passage_and_in_it_the_quoted_sentence_are_marked(page: Page, api: FakeApi, before: str) -> None:
    text = f"{before}{PASSAGE}\n\n" + "Дальше другой текст. " * 2000
    start = len(before)
    known(api, text, {"start": start, "end": start + len(PASSAGE), "heading_path": ["Правила", "1. Проезд", "Сроки"]})
    asked(page, api, f"> {SENTENCE} {CITE}\n\nДругими словами: скоро {CITE}")
    page.locator(".cite").first.click()
    expect(page.locator("#source mark.passage")).to_have_text(PASSAGE)
    expect(page.locator("#source mark.sentence")).to_have_text(SENTENCE)
    expect(page.locator("#source mark.sentence")).to_be_in_viewport()
    expect(page.locator("#source-place")).to_have_text("1. Проезд › Сроки · Правила.md")
    page.locator(".cite").last.click()
    expect(page.locator("#source mark.passage")).to_have_text(PASSAGE)
    expect(page.locator("#source mark.sentence")).to_have_count(0)


def test_more_of_the_text_is_shown_on_demand(page: Page, api: FakeApi) -> None:
    text = "Начало документа. " + "а " * 20_000 + PASSAGE + " б" * 20_000
    start = text.index(PASSAGE)
    known(api, text, {"start": start, "end": start + len(PASSAGE)})
    asked(page, api, f"«{SENTENCE}» {CITE}")
    page.locator(".cite").click()
    expect(page.locator("#source mark.sentence")).to_have_text(SENTENCE)
    shown = page.locator("#source .document-text")
    expect(shown).not_to_contain_text("Начало документа.")
    page.get_by_role("button", name="Показать выше").click()
    page.get_by_role("button", name="Показать выше").click()
    expect(shown).to_contain_text("Начало документа.")
    expect(page.get_by_role("button", name="Показать выше")).to_be_hidden()


def test_a_pdf_shows_its_page_with_the_boxes(page: Page, api: FakeApi) -> None:
    picture = io.BytesIO()
    Image.new("RGB", (400, 600), "white").save(picture, "PNG")
    api.page_png = picture.getvalue()
    box = {"page": 2, "x0": 20, "y0": 30, "x1": 120, "y1": 45}
    place = {"start": 0, "end": len(PASSAGE), "page": 2, "boxes": [box, {**box, "page": 3}]}
    known(api, PASSAGE, place, file_type="pdf", metadata={"pages": 3})
    asked(page, api, f"> {SENTENCE} {CITE}")
    page.locator(".cite").click()
    expect(page.locator("#source canvas")).to_have_attribute("aria-label", "Изображение страницы 2")
    expect(page.locator("#source .box")).to_have_count(1)
    edges = page.locator("#source .box").evaluate("(n) => [n.style.left, n.style.top, n.style.width, n.style.height]")
    assert edges == ["10%", "10%", "50%", "5%"]
    page.get_by_role("button", name="Следующая страница").click()
    expect(page.locator("#source canvas")).to_have_attribute("aria-label", "Изображение страницы 3")
    expect(page.get_by_role("button", name="Следующая страница")).to_be_disabled()
    page.get_by_role("button", name="Текст").click()
    expect(page.locator("#source mark.sentence")).to_have_text(SENTENCE)


def test_a_table_shows_sheet_and_rows(page: Page, api: FakeApi) -> None:
    rows = "Город: Казань | Суточные: 1200\nГород: Норильск | Суточные: 1800"
    place = {"start": 0, "end": len(rows), "sheet": "Россия", "row": 6, "row_end": 7}
    known(api, rows, place, content=rows, file_type="xlsx")
    asked(page, api, f"> Город: Норильск | Суточные: 1800 {CITE}")
    page.locator(".cite").click()
    expect(page.locator("#source-place")).to_have_text("лист «Россия» · строки 6–7 · Правила.md")
    expect(page.locator("#source .rows b")).to_have_text(["6", "7"])
    expect(page.locator("#source .quoted small")).to_have_text(["Город", "Суточные"])
    expect(page.locator("#source .quoted")).to_contain_text("1800")


def test_a_source_that_is_gone_says_so_and_shows_what_was_kept(page: Page, api: FakeApi) -> None:
    asked(page, api, f"> {SENTENCE} {CITE}")
    page.locator(".cite").click()
    expect(page.locator("#source .notice")).to_contain_text("документ удалён или заменён")
    expect(page.locator("#source .document-text")).to_have_text(PASSAGE)
    expect(page.locator("#source mark.sentence")).to_have_text(SENTENCE)


def test_sources_are_listed_under_the_answer_and_the_rest_apart(page: Page, api: FakeApi) -> None:
    known(api, PASSAGE, {"start": 0, "end": len(PASSAGE)})
    asked(page, api, f"Да {CITE}")
    expect(page.locator(".sources ol li")).to_have_text(["1Правиластр. 2"])
    asked(page, api, "Без ссылок")
    page.get_by_text("Найдено ещё: 1").click()
    page.locator(".others li button").click()
    expect(page.locator("#source mark.passage")).to_have_text(PASSAGE)


def test_escape_closes_the_panel_and_focus_returns(page: Page, api: FakeApi) -> None:
    known(api, PASSAGE, {"start": 0, "end": len(PASSAGE)})
    asked(page, api, f"Да {CITE}")
    page.locator(".cite").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#source-title")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#source")).to_be_hidden()
    expect(page.locator(".cite")).to_be_focused()


def test_a_new_conversation_begins_without_the_source_of_the_last(page: Page, api: FakeApi) -> None:
    known(api, PASSAGE, {"start": 0, "end": len(PASSAGE)})
    asked(page, api, f"Да {CITE}")
    page.locator(".cite").click()
    expect(page.locator("#source mark.passage")).to_be_visible()
    page.locator("#session-new").click()
    expect(page.locator("#source")).to_be_hidden()
    expect(page.locator("#question")).to_be_focused()


@pytest.mark.parametrize("page", [{"viewport": {"width": 400, "height": 800}}], indirect=True)
def test_on_a_narrow_screen_nothing_is_cut_off(page: Page, api: FakeApi) -> None:
    known(api, PASSAGE, {"start": 0, "end": len(PASSAGE)})
    asked(page, api, f"{'длинноеслово' * 30} `{'код' * 60}` {CITE}\n\n| а | б |\n|--|--|\n| {'ячейка ' * 20} | 2 |")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    expect(page.locator("#sidebar")).to_be_hidden()
    page.locator(".cite").click()
    expect(page.locator("#source mark.passage")).to_be_in_viewport()
    assert page.locator("#source").bounding_box()["width"] <= 400  # type: ignore[index]
    page.get_by_role("button", name="Закрыть").last.click()
    page.get_by_role("button", name="Документы и беседы").click()
    expect(page.locator("#documents .name")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(page.locator("#sidebar")).to_be_hidden()
    expect(page.locator("#menu")).to_be_focused()
