"""What Markdown in an answer becomes; the elements are compared as a small outline."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.browser

OUTLINE = """async ([texts, final]) => {
  const { renderAnswer } = await import('/static/render.js');
  const cite = (source) => Object.assign(document.createElement('i'), { textContent: source.number });
  const outline = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    const inner = [...node.childNodes].map(outline).join('');
    const name = node.localName + (node.hasAttribute('href') ? ` ${node.getAttribute('href')}` : '');
    return node.childNodes.length ? `[${name}:${inner}]` : `[${name}]`;
  };
  return texts.map((text) => {
    const box = document.createElement('div');
    renderAnswer(box, text, { final, cite });
    return [...box.childNodes].map(outline).join('');
  });
}"""

CASES = {
    "текст": "[p:текст]",
    "**жирно** и *косо* и ***всё***": "[p:[strong:жирно] и [em:косо] и [em:[strong:всё]]]",
    "2 * 3 * 4, snake_case_name, __имя__": "[p:2 * 3 * 4, snake_case_name, [strong:имя]]",
    "**не закрыто": "[p:**не закрыто]",
    "~~нет~~ `a*b*` ``x`y``": "[p:[del:нет] [code:a*b*] [code:x`y]]",
    r"\*не косо\* \<b\>": "[p:*не косо* <b>]",
    "# Раз\n## Два ##\n####### семь": "[h3:Раз][h4:Два][p:####### семь]",
    "- а\n- б\n  - в\n  - г\n- д": "[ul:[li:а][li:б[ul:[li:в][li:г]]][li:д]]",
    "3. три\n4. четыре\n\nпосле": "[ol:[li:три][li:четыре]][p:после]",
    "1. раз\n\n   ещё\n\n2. два": "[ol:[li:раз[p:ещё]][li:два]]",
    "Итоги за\n2024. год": "[p:Итоги за[br]2024. год]",
    "- а\n* б": "[ul:[li:а]][ul:[li:б]]",
    "> раз\n> два\n>\n> > три": "[blockquote:[p:раз[br]два][blockquote:[p:три]]]",
    "```py\na = 1\n\n# x\n```\nпосле": "[pre:[code:a = 1\n\n# x]][p:после]",
    "~~~\n```\n~~~": "[pre:[code:```]]",
    "---\n***": "[hr][hr]",
    "| а | б |\n|:-:|--:|\n| 1 \\| 2 | **3** |\n| 4 |": (
        "[div:[table:[thead:[tr:[th:а][th:б]]][tbody:[tr:[td:1 | 2][td:[strong:3]]][tr:[td:4][td]]]]]"
    ),
    "а | б не таблица": "[p:а | б не таблица]",
    "[сайт](https://ok.test/a_(b)?q=1)": "[p:[a https://ok.test/a_(b)?q=1:сайт]]",
    "[плохо](javascript:alert(1)) [д](data:x) [ф](file:///etc) [о](//evil.test)": (
        "[p:[span:плохо] [span:д] [span:ф] [span:о]]"
    ),
    "![схема](https://ok.test/x.png)": "[p:[span:схема]]",
    "см. https://ok.test/a, https://ok.test/b).": "[p:см. [a https://ok.test/a:https://ok.test/a], "
    "[a https://ok.test/b:https://ok.test/b]).]",
    "а<br>б<br/>в <b>г</b>": "[p:а[br]б[br]в <b>г</b>]",
    '<kb doc="x|y*" chunk_id="1"/> | <kb doc="`z" chunk_id="2"/>б<kb doc="x" chunk_id="1"/>': "[p:[i:1] | [i:2]б[i:1]]",
    'а<kb doc="без ид"/>б<kb doc="без ид"/><kb/>': "[p:а[i:1]б[i:1]]",
    '```\n<kb doc="x" chunk_id="1"/>y\n```': "[pre:[code:y]]",
    "\ue0001\ue001\ue000": "[p:1]",
    "": "",
}


def outlines(page: Page, texts: list[str], *, final: bool = True) -> list[Any]:
    page.goto("/")
    found: list[Any] = page.evaluate(OUTLINE, [texts, final])
    return found


def test_markdown_becomes_elements(page: Page) -> None:
    assert dict(zip(CASES, outlines(page, list(CASES)), strict=True)) == CASES


def test_what_is_half_received_is_shown_as_what_it_will_be(page: Page) -> None:
    halves = {
        "**жир": "[p:[strong:жир]]",
        "`код": "[p:[code:код]]",
        "```py\nx = ": "[pre:[code:x = ]]",
        "а <k": "[p:а]",
    }
    assert dict(zip(halves, outlines(page, list(halves), final=False), strict=True)) == halves


def test_unchanged_blocks_keep_their_elements(page: Page) -> None:
    page.goto("/")
    kept = page.evaluate(
        """async () => {
          const { renderAnswer } = await import('/static/render.js');
          const cite = () => document.createElement('i');
          const box = document.createElement('div');
          renderAnswer(box, 'раз\\n\\nдва\\n\\nтр', { final: false, cite });
          const [first, second, third] = box.children;
          renderAnswer(box, 'раз\\n\\nдва\\n\\nтри\\n\\n- а', { final: false, cite });
          const now = [...box.children];
          return [now[0] === first, now[1] === second, now[2] === third, now.length];
        }"""
    )
    assert kept == [True, True, False, 4]


@pytest.mark.parametrize("text", ["[" * 20_000, "*a" * 10_000, "> " * 5_000 + "x", "`" * 20_001, "[a](" + " " * 20_000])
def test_hostile_lengths_are_read_in_one_pass(page: Page, text: str) -> None:
    assert outlines(page, [text])[0].startswith("[")


def test_a_stream_is_read_wherever_the_network_cut_it(page: Page) -> None:
    page.goto("/")
    same = page.evaluate(
        """async () => {
          const { frames } = await import('/static/stream.js');
          const first = ': hello\\r\\n\\r\\nid: 1\\r\\nevent: message\\r\\ndata: {"a":"ё🙂"}\\r\\n\\r\\n';
          const text = first + 'id: 2\\ndata: x\\ndata: y\\n\\n';
          const bytes = new TextEncoder().encode(text);
          const all = [];
          for (let size = 1; size <= bytes.length; size += 1) {
            const body = new ReadableStream({
              start(controller) {
                for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
                controller.close();
              },
            });
            const found = [];
            for await (const frame of frames(body)) found.push(frame);
            all.push(JSON.stringify(found));
          }
          return [...new Set(all)];
        }"""
    )
    assert same == ['[{"id":"1","data":"{\\"a\\":\\"ё🙂\\"}"},{"id":"2","data":"x\\ny"}]']
