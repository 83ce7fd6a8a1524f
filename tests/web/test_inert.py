"""Text from documents, models and file names never becomes code in the reader's page, at no moment of a stream."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Page, expect

if TYPE_CHECKING:
    from conftest import FakeApi

pytestmark = pytest.mark.browser

FILE_NAME = "<img src=x onerror=window.__h6=8>.md"
SESSION_TITLE = "</title><script>window.__h6=9</script>"
ANSWER = (
    'Срок **три дня**<kb doc="Приказ &quot;7&quot;" chunk_id="ch-11" kb_id="kb-1" /> '
    '<img src=x onerror="window.__h6=1"> <iframe srcdoc="<script>parent.__h6=2</script>"></iframe> '
    '[жми](javascript:window.__h6=3) <svg onload="window.__h6=4"> <a href="data:text/html,<script>">д</a> '
    '<kb doc="x" chunk_id="ch-11" onclick="window.__h6=5" /> <style>body{display:none}</style> '
    "<form action=//evil><input></form>\n\n"
    "```html\n<script>window.__h6=6</script>\n```\n\n"
    "| a | b |\n|---|---|\n| 1 | <b onmouseover=window.__h6=7>2</b> |"
)
MORE = (
    "\n\n![x](https://evil.test/p.png) [д](data:text/html,x) [в](vbscript:x) [я](JaVaScRiPt&colon;alert(1)) "
    '[т](\tjavascript:window.__h6=10) <kb doc="<img src=x onerror=window.__h6=11>" chunk_id="ch-12"/>'
    '<kb doc="&lt;img src=x onerror=window.__h6=12&gt;" chunk_id="ch-13"/> `<kb doc="c" chunk_id="ch-14"/>` '
    '<web url="javascript:window.__h6=13" title="w"/><web url="https://ok.test/a" title="&lt;b&gt;"/> '
    "<details open ontoggle=window.__h6=14> <base href=//evil.test> <meta http-equiv=refresh content=0> "
    '<a href="https://ok.test" onclick="window.__h6=15">ссылка</a> <math><mtext><script>window.__h6=16</script> '
    '<kb\nchunk_id="ch-11"\n/> <k<kb/>b doc="y"/> конец <kb doc="не закрыт'
)
FORBIDDEN = frozenset({"script", "iframe", "form", "style", "img", "input", "object", "embed", "base", "meta", "link"})
INSPECT = """() => {
  const found = [];
  for (const node of document.querySelectorAll('#messages *')) {
    found.push([node.localName, ...[...node.attributes].map((a) => a.name + '=' + a.value)]);
  }
  return {h6: window.__h6 ?? null, nodes: found, raw: document.querySelector('#messages').innerText.includes('<kb')};
}"""
WATCH = """() => {
  window.__moments = [];
  const look = () => {
    const text = document.querySelector('#messages').innerText;
    if (/<\\/?(?:k|kb)(?![a-z])/i.test(text)) window.__moments.push(text.slice(-60));
    const bad = document.querySelector('#messages :is(script, iframe, form, style, img, input, base, meta, object)');
    if (bad) window.__moments.push(bad.localName);
    if (window.__h6 !== undefined) window.__moments.push('ran ' + window.__h6);
  };
  const what = {subtree: true, childList: true, characterData: true};
  new MutationObserver(look).observe(document.querySelector('#messages'), what);
}"""


def scripted(text: str, *, size: int) -> list[dict[str, Any] | str]:
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    return [
        {"response_type": "references", "knowledge_references": []},
        *({"response_type": "answer", "content": piece} for piece in pieces),
        {"response_type": "answer", "done": True},
        {"response_type": "complete", "data": {"finish": "complete"}},
    ]


def hostile(api: FakeApi) -> None:
    api.documents = [
        {"id": "d-1", "title": FILE_NAME, "file_name": FILE_NAME, "file_type": "md", "parse_status": "completed"},
        {"id": "d-2", "title": "f", "file_name": "f", "parse_status": "failed", "error_message": FILE_NAME},
    ]
    api.sessions = [{"id": "s-9", "title": SESSION_TITLE}]
    api.bases = [{"id": "kb-1", "name": FILE_NAME}]
    api.texts["d-1"] = f"до {FILE_NAME} после {SESSION_TITLE}"
    api.chunks["ch-11"] = {
        "id": "ch-11",
        "knowledge_id": "d-1",
        "content": FILE_NAME,
        "place": {"start": 3, "end": 3 + len(FILE_NAME), "heading_path": [SESSION_TITLE]},
    }


def inspect(page: Page) -> None:
    seen = page.evaluate(INSPECT)
    assert seen["h6"] is None
    assert not seen["raw"]
    for name, *attributes in seen["nodes"]:
        assert name not in FORBIDDEN
        for attribute in attributes:
            key, _, value = attribute.partition("=")
            assert not key.startswith("on"), attribute
            assert key not in ("style", "src", "srcdoc", "action"), attribute
            if key == "href":
                assert value.startswith(("https://", "http://")), attribute


def touch_everything(page: Page) -> None:
    """Move over and click all that can be clicked in the message, without leaving the page."""
    page.evaluate(
        "document.querySelectorAll('a').forEach((a) => a.addEventListener('click', (e) => e.preventDefault()))"
    )
    for node in page.locator("#messages *:visible").all():
        node.dispatch_event("mouseover")
    for button in page.locator("#messages button, #messages summary, #messages a").all():
        button.dispatch_event("click")
    page.locator("#source-body").wait_for()


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_streamed_answer_is_inert(page: Page, api: FakeApi, size: int) -> None:
    hostile(api)
    api.script = scripted(ANSWER + MORE, size=size)
    page.goto("/")
    page.evaluate(WATCH)
    page.fill("#question", "Какой срок?")
    page.press("#question", "Enter")
    expect(page.locator(".answer[aria-busy=false] .actions")).to_be_visible()
    inspect(page)
    answer = page.locator(".answer .text").last
    expect(answer.locator("strong").first).to_have_text("три дня")
    expect(answer.locator("pre code")).to_have_text("<script>window.__h6=6</script>")
    expect(answer.locator("table td").first).to_have_text("1")
    touch_everything(page)
    inspect(page)
    assert page.evaluate("window.__moments") == []


def test_the_same_source_has_the_same_number_and_opens(page: Page, api: FakeApi) -> None:
    hostile(api)
    api.script = scripted(ANSWER, size=5)
    page.goto("/")
    page.fill("#question", "Какой срок?")
    page.press("#question", "Enter")
    expect(page.locator(".answer[aria-busy=false] .actions")).to_be_visible()
    cites = page.locator(".answer .text button.cite")
    expect(cites).to_have_text(["1", "1"])
    expect(cites.first).to_have_attribute("aria-label", 'Источник 1: Приказ "7"')
    expect(page.locator(".sources ol li")).to_have_text(['1Приказ "7"'])
    cites.first.click()
    expect(page.locator("#source-title")).to_have_text(FILE_NAME)
    expect(page.locator("#source mark.passage")).to_have_text(FILE_NAME)
    expect(page.locator("#source-place")).to_have_text(SESSION_TITLE)


def test_names_and_titles_are_text_everywhere(page: Page, api: FakeApi) -> None:
    hostile(api)
    page.goto("/")
    expect(page.locator("#documents .name").first).to_have_text(FILE_NAME)
    expect(page.locator("#documents .failed .status")).to_contain_text(FILE_NAME)
    expect(page.locator("#sessions .name")).to_have_text(SESSION_TITLE)
    expect(page.locator("#base option")).to_have_text(FILE_NAME)
    page.locator("#sessions .name").click()
    expect(page).to_have_title(f"{SESSION_TITLE} — Opora")
    page.locator("#documents .name").first.click()
    expect(page).to_have_title(f"{FILE_NAME} — Opora")
    expect(page.locator("#source-title")).to_have_text(FILE_NAME)
    page.locator("#documents .icon-button").first.click()
    expect(page.locator("dialog p")).to_contain_text(FILE_NAME)
    assert page.evaluate("window.__h6 ?? null") is None


def test_a_stored_answer_is_inert(page: Page, api: FakeApi) -> None:
    hostile(api)
    common = {"session_id": "s-9", "request_id": "r", "created_at": "2025-01-01T00:00:00Z", "is_completed": True}
    api.messages = [
        {"id": "m-1", "role": "user", "content": ANSWER, **common},
        {
            "id": "m-2",
            "role": "assistant",
            "content": ANSWER + MORE,
            "finish": "error",
            "error_message": ANSWER,
            **common,
        },
    ]
    page.goto("/#s=s-9")
    expect(page.locator(".answer table")).to_be_visible()
    touch_everything(page)
    assert page.evaluate("window.__h6 ?? null") is None
    expect(page.locator(".question p").first).to_have_text(ANSWER)
    for name in ("script", "iframe", "form", "style", "img", "input"):
        assert page.locator(f"#messages {name}").count() == 0


def test_the_policy_stops_inline_script(page: Page, api: FakeApi, address: str) -> None:
    response = page.goto("/")
    assert response is not None
    policy = response.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    html = page.content()
    assert "<script>" not in html
    assert " style=" not in html
    assert json.dumps(address) not in html


ANSWERS = [ANSWER, MORE, "<kb", "<k", "< kb", "a <b <kb doc='x'", "<web", "<kbd>x</kbd>", '`<kb a="1"/>`']
ANSWERS += ['<<kb/>kb x="1"', "</kb>", '<KB chunk_id="c"/>', '**<kb chunk_id="c"/>**', '<kb doc="a|b" chunk_id="c"/>']
PLAIN = [
    'Срок 3 < 5 дней<kb doc="Приказ &quot;7&quot;" chunk_id="ch-11" kb_id="kb-1" /> и всё',
    'Раз<web url="https://ok.test/a?b=1&amp;c=2" title="Два &lt;слова&gt;"/><kb doc="x" chunk_id="ch-1" onclick="y"/>.',
    "Три </kb> четыре <kb/> пять <kbd> шесть <w семь",
]
SHOWN = """async (answers) => {
  const { renderAnswer } = await import('/static/render.js');
  const cite = () => document.createElement('i');
  const show = (answer, final) => {
    const box = document.createElement('div');
    renderAnswer(box, answer, { final, cite });
    return box.textContent;
  };
  const beginnings = (answer) => [...answer].map((_, end) => show(answer.slice(0, end), false));
  return answers.map((answer) => [...beginnings(answer), show(answer, false), show(answer, true)]);
}"""


def test_every_beginning_of_an_answer_shows_no_raw_tag(page: Page) -> None:
    page.goto("/")
    for text in (text for texts in page.evaluate(SHOWN, ANSWERS) for text in texts):
        assert not re.search(r"</?(?:kb|web)(?![\w-])", text, re.IGNORECASE), text[-60:]


def test_what_is_seen_of_a_tag_while_it_arrives_is_nothing(page: Page) -> None:
    page.goto("/")
    for *beginnings, whole in page.evaluate(SHOWN, PLAIN):
        for text in beginnings:
            assert whole.startswith(text.rstrip()), text[-60:]
