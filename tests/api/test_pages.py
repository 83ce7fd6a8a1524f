"""The pages that the server writes: search and presentation, without a browser."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path

import httpx2
import pytest
from pydantic import SecretStr
from selectolax.lexbor import LexborHTMLParser

from opora.api.pages.html import Html, el, joined
from opora.api.pages.pieces import near
from opora.api.pages.words import _WORDS, LANGUAGES, Words, words_for
from opora.bootstrap import App
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.domain.search import SearchMode
from opora.settings import Settings

from .conftest import STRANGER, add_text, client_of

SAME = "# Отчёт\n\nБилеты прикладывают к отчёту.\n\n"
HOSTILE = '# <img src=x onerror=alert(1)>\n\nБилет <script>alert("x")</script> & "кавычки" \'одни\' </mark>.'
INLINE = re.compile(r"<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=")


@pytest.fixture
async def embedded(tmp_path: Path) -> AsyncIterator[App]:
    opened = await App.open(Settings(data=tmp_path, embedding="null"))
    yield opened
    await opened.close()


@pytest.fixture
async def pages(embedded: App) -> AsyncIterator[httpx2.AsyncClient]:
    async with client_of(embedded, headers={"Accept-Language": "ru"}) as client:
        yield client


def seen(page: httpx2.Response) -> str:
    """The text of a page."""
    return unescape(re.sub(r"<[^>]+>", "", page.text))


async def test_the_empty_form_has_hybrid_chosen(http: httpx2.AsyncClient) -> None:
    page = await http.get("/search")
    assert page.status_code == 200
    assert page.headers["cache-control"] == "no-store"
    assert re.findall(r'value="(\w+)" checked', page.text) == ["hybrid"]
    assert '<ol class="hits"' not in page.text
    assert not INLINE.search(page.text)
    for address in re.findall(r'(?:src|href)="([^"#]+)"', page.text):
        assert (await http.get(unescape(address))).status_code == 200, address


@pytest.mark.parametrize("mode", [mode.value for mode in SearchMode])
async def test_what_was_found_is_shown_with_source_words_and_scores(
    embedded: App, pages: httpx2.AsyncClient, mode: str
) -> None:
    _, document_id = await add_text(embedded, LOCAL_PRINCIPAL, SAME * 2, title="Отчёты")
    page = await pages.get("/search", params={"q": "прикладываю билет", "search_type": mode})
    assert page.status_code == 200
    assert re.findall(r'value="(\w+)" checked', page.text) == [mode]
    assert "<mark>Билеты</mark> <mark>прикладывают</mark> к отчёту." in page.text
    assert f'href="/api/v1/knowledge/{document_id}/download"' in page.text
    assert "фрагмент 1" in seen(page)
    assert ("по словам: место 1" in seen(page)) is (mode != "semantic")
    assert ("по смыслу: место 1" in seen(page)) is (mode != "fulltext")
    assert ("сумма мест (RRF) 0.0328" in seen(page)) is (mode == "hybrid")


async def test_neighbours_are_told_apart(embedded: App, pages: httpx2.AsyncClient) -> None:
    await add_text(embedded, LOCAL_PRINCIPAL, SAME * 13)
    page = await pages.get("/search", params={"q": "билеты", "search_type": "semantic"})
    found, neighbours = map(int, re.findall(r"Найдено фрагментов: (\d+). Соседних: (\d+)", seen(page))[0])
    assert found == 10
    assert page.text.count("Добавлен не за слова вопроса") == neighbours > 0


async def test_what_documents_and_questions_say_is_text(embedded: App, pages: httpx2.AsyncClient) -> None:
    await add_text(embedded, LOCAL_PRINCIPAL, HOSTILE, title='<b onclick="x">Название</b>')
    question = '"><script>alert("билет")</script>'
    for path in ("/search", "/presentation"):
        page = await pages.get(path, params={"q": question, "lang": '"><i>', "search_type": '"><i>'})
        assert page.status_code == 200
        tree = LexborHTMLParser(page.text)
        assert {node.attributes.get("src") for node in tree.css("script")} == {"/static/pages.js"}
        assert [node.attributes["src"] for node in tree.css("img")] == ["/static/icon.svg"]
        assert not tree.css("b, i, style")
        for node in tree.css("*"):
            assert not [name for name in node.attributes if name.startswith("on") or name == "style"], node.html
        assert '<script>alert("x")</script>' in seen(page)
        assert '<b onclick="x">Название</b>' in seen(page)


@pytest.mark.parametrize(("question", "said"), [(" ", "Введите вопрос"), ("ж" * 10_001, "слишком длинный")])
async def test_a_question_that_does_not_fit_is_told_why(pages: httpx2.AsyncClient, question: str, said: str) -> None:
    page = await pages.get("/search", params={"q": question})
    assert page.status_code == 422
    assert said in seen(page)
    assert 'role="alert"' in page.text


async def test_without_a_model_the_page_says_what_works(app: App, http: httpx2.AsyncClient) -> None:
    await add_text(app, LOCAL_PRINCIPAL, SAME)
    page = await http.get("/search", params={"q": "билеты", "lang": "ru"})
    assert page.status_code == 503
    assert "Поиск по словам работает" in seen(page)
    words = await http.get("/search", params={"q": "билеты", "lang": "ru", "search_type": "fulltext"})
    assert words.status_code == 200
    explained = await http.get("/presentation", params={"q": "билеты", "lang": "ru"})
    assert explained.status_code == 200
    assert "показан поиск по словам" in seen(explained)


async def test_the_presentation_is_of_the_readers_own_document(embedded: App, pages: httpx2.AsyncClient) -> None:
    empty = await pages.get("/presentation")
    assert "Готовых документов пока нет" in seen(empty)
    _, theirs = await add_text(embedded, STRANGER, "Чужая тайна.", title="Чужое")
    assert "Готовых документов пока нет" in seen(await pages.get("/presentation"))
    foreign = await pages.get("/presentation", params={"document": theirs})
    absent = await pages.get("/presentation", params={"document": "0" * 26})
    assert (foreign.status_code, absent.status_code) == (404, 404)
    assert foreign.text.replace(theirs, "") == absent.text.replace("0" * 26, "")
    _, mine = await add_text(embedded, LOCAL_PRINCIPAL, SAME * 5, title="Мои билеты")
    page = await pages.get("/presentation", params={"document": mine, "q": "билеты"})
    text = seen(page)
    assert "Чуж" not in text
    assert re.findall(r'<option value="(\w[\w-]*)" selected>', page.text) == [mine]
    assert [f"Шаг {n}" in text for n in range(1, 8)] == [True] * 6 + [False]
    assert "1/(60+1)" in text
    assert '"search_type": "hybrid"' in text
    assert "сосед, близость к фрагменту" in text
    assert not INLINE.search(page.text)


async def test_without_a_question_the_presentation_has_one_of_its_own(embedded: App, pages: httpx2.AsyncClient) -> None:
    await add_text(embedded, LOCAL_PRINCIPAL, SAME, title="Билеты")
    value = re.search(r'name="q" type="search" value="([^"]*)"', (await pages.get("/presentation")).text)
    assert value is not None
    assert 3 <= len(value[1]) <= 60


async def test_where_a_key_is_set_it_is_sent_in_a_form_and_never_shown(tmp_path: Path) -> None:
    app = await App.open(Settings(data=tmp_path, embedding="null", api_key=SecretStr("sk-secret")))
    await add_text(app, LOCAL_PRINCIPAL, SAME, title="Тайна")
    async with client_of(app, headers={"Accept-Language": "ru"}) as http:
        for path in ("/search", "/presentation"):
            form = await http.get(path)
            assert form.status_code == 200
            assert 'method="post"' in form.text
            assert 'type="password"' in form.text
            for sent in ({"q": "билеты"}, {"q": "билеты", "key": "wrong"}):
                refused = await http.post(path, data=sent)
                assert refused.status_code == 401
                assert "Билеты" not in refused.text
            assert (await http.get(path, params={"q": "билеты", "key": "sk-secret"})).status_code == 401
            shown = await http.post(path, data={"q": "билеты", "key": "sk-secret"})
            assert shown.status_code == 200
            assert "Билеты" in shown.text
            assert "sk-secret" not in shown.text
            assert "/download" not in shown.text
            foreign = await http.post(path, data={"q": "q"}, headers={"Origin": "http://elsewhere.example"})
            assert foreign.status_code == 403
            # A browser's form says where it comes from only when the page lets it.
            assert shown.headers["referrer-policy"] == "same-origin"
    await app.close()


@pytest.mark.parametrize(
    ("chosen", "accepted", "language"),
    [
        ("", "", "en"),
        ("", "ru-RU,ru;q=0.9", "ru"),
        ("", "zh-CN", "zh"),
        ("", "fr, de;q=0.8, zh;q=0.5", "zh"),
        ("en", "ru", "en"),
        ("xx", "ru", "ru"),
    ],
)
def test_the_language_is_the_readers(chosen: str, accepted: str, language: str) -> None:
    assert words_for(chosen, accepted).language == language


def test_every_text_is_there_in_every_language_with_the_same_places() -> None:
    for key, texts in _WORDS.items():
        places = [set(re.findall(r"\{(\w+)\}", text)) for text in texts]
        assert places[0] == places[1] == places[2], key
        assert all(text.strip() for text in texts), key
    assert {Words(language).tag for language in LANGUAGES} == {"ru", "en", "zh-Hans"}


def test_markup_comes_of_elements_only() -> None:
    assert el("p", "<b>", el("b", "&"), class_='a"b', hidden=True, id=None) == (
        '<p class="a&quot;b" hidden>&lt;b&gt;<b>&amp;</b></p>'
    )
    assert el("br") == "<br>"
    assert joined("<", None, Html("<hr>"), by="&") == "&lt;&amp;<hr>"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Билет и чек.", "<mark>Билет</mark> и чек."),
        (f"Билет {'слово ' * 20}", "<mark>Билет</mark> слово слово слово слово…"),
        (f"{'слово ' * 20}билет", "…слово <mark>билет</mark>"),
        ("слово " * 20, "слово слово слово слово слово…"),
    ],
)
def test_an_excerpt_is_about_the_question(text: str, shown: str) -> None:
    assert near(text, "билеты", 30) == shown
