"""Web pages: text in order with its structure, no scripts and no navigation."""

from __future__ import annotations

import pytest

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import ParsedDocument
from opora.ingest.limits import ParseLimits
from opora.ingest.parse import html

PAGE = """<!doctype html><html><head><meta charset="windows-1251"><title>Правила &amp; сроки</title>
<style>p{}</style><script>alert("x")</script></head><body>
<nav><a href="/">Меню сайта</a></nav><header><h1>Командировки</h1></header>
<p>Срок  оплаты —
<b>30</b> дней.<br>Вторая строка.</p>
<ul><li>один<ul><li>вложенный</li></ul></li><li>два</li></ul>
<ol><li>первый</li><li>второй</li></ol>
<h2>Цены</h2><table><caption>Прайс</caption><tr><th>Товар</th><th>Цена</th></tr><tr><td>Болт<br>М8</td><td>12,50</td></tr></table>
<pre>  код
    отступ</pre><div hidden>скрытое</div><footer>Подвал сайта</footer></body></html>"""


def parsed(text: str, encoding: str = "utf-8") -> ParsedDocument:
    return html.parse(text.encode(encoding), "a.html", ParseLimits())


def shape(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in document.blocks]


def test_a_page_becomes_blocks_in_order() -> None:
    document = parsed(PAGE, "cp1251")
    assert document.title == "Правила & сроки"
    assert document.metadata["encoding"] == "cp1251"
    assert shape(document) == [
        ("heading", "Командировки"),
        ("paragraph", "Срок оплаты — 30 дней.\nВторая строка."),
        ("list", "- один\n  - вложенный\n- два"),
        ("list", "1. первый\n2. второй"),
        ("heading", "Цены"),
        ("paragraph", "Прайс"),
        ("table", "Товар | Цена\nБолт М8 | 12,50"),
        ("code", "  код\n    отступ"),
    ]
    assert document.blocks[-1].place.heading_path == ("Командировки", "Цены")
    assert document.blocks[-2].head == "Товар | Цена"


@pytest.mark.parametrize(
    ("markup", "texts"),
    [
        ("loose text <b>bold</b>", ["loose text bold"]),
        ("<div>a<div>b</div>c</div>", ["a", "b", "c"]),
        ("<p>a<span>b</span><i> c</i></p>", ["ab c"]),
        ("<p>a &lt;script&gt; b</p>", ["a <script> b"]),
        ("<dl><dt>term<dd>meaning</dl>", ["term", "meaning"]),
        ("<table><tr><td><h1>Title</h1><p>one<p>two</table>", ["Title", "one", "two"]),
        ('<p><img alt="схема" src="http://x.y/z.png"> подпись</p>', ["схема подпись"]),
        ("<p>unclosed <ul><li>item", ["unclosed", "- item"]),
    ],
)
def test_fragments(markup: str, texts: list[str]) -> None:
    assert [block.text for block in parsed(f"<html><body>{markup}").blocks] == texts


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "koi8-r"])
def test_the_real_encoding_wins_over_a_wrong_declaration(encoding: str) -> None:
    text = PAGE.replace("windows-1251", "koi8-r").replace("—", "-") if encoding == "koi8-r" else PAGE
    assert "30 дней" in parsed(text, encoding).text


def test_absurd_nesting_is_a_reason_not_a_crash() -> None:
    with pytest.raises(ParseFailed):
        parsed("<div>" * 5_000 + "text")
