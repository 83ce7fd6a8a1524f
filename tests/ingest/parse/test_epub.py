"""E-books: chapters in the order of the spine, whatever the order of the files."""

from __future__ import annotations

import io
import zipfile

import pytest

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import ParseReason
from opora.ingest.limits import ParseLimits
from opora.ingest.read import read_document

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
)
PACKAGE = """<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">
<metadata><dc:title>Книга о складе</dc:title><dc:creator>И. Иванов</dc:creator></metadata>
<manifest><item id="two" href="b%20two.xhtml" media-type="application/xhtml+xml"/>
<item id="one" href="text/one.xhtml" media-type="application/xhtml+xml"/>
<item id="pic" href="p.png" media-type="image/png"/></manifest>
<spine><itemref idref="one"/><itemref idref="pic"/><itemref idref="two"/><itemref idref="gone"/></spine></package>"""
PAGE = (
    '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">'
    "<body><h1>{0}</h1><p>Текст главы {0}.</p></body></html>"
)


def book(**more: str | None) -> bytes:
    parts: dict[str, str | None] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": PACKAGE,
        "OEBPS/b two.xhtml": PAGE.format("Вторая"),
        "OEBPS/text/one.xhtml": PAGE.format("Первая"),
    } | {name.replace("__", "/").replace("_xml", ".xml"): text for name, text in more.items()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as target:
        for name, text in parts.items():
            if text is not None:
                target.writestr(name, text)
    return out.getvalue()


def test_chapters_come_in_the_order_of_the_spine() -> None:
    parsed = read_document(book(), "книга.epub", ParseLimits())
    assert [block.text for block in parsed.blocks] == ["Первая", "Текст главы Первая.", "Вторая", "Текст главы Вторая."]
    assert (parsed.file_type, parsed.title, parsed.metadata["creator"]) == ("epub", "Книга о складе", "И. Иванов")


def test_a_locked_book_is_encrypted_and_one_with_hidden_fonts_is_not() -> None:
    locked = '<encryption><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/></encryption>'
    with pytest.raises(ParseFailed) as told:
        read_document(book(**{"META-INF__encryption_xml": locked}), "x.epub", ParseLimits())
    assert told.value.reason == ParseReason.ENCRYPTED
    fonts = '<encryption><EncryptionMethod Algorithm="http://www.idpf.org/2008/embedding"/></encryption>'
    assert read_document(book(**{"META-INF__encryption_xml": fonts}), "x.epub", ParseLimits()).blocks


@pytest.mark.parametrize("broken", [{"META-INF__container_xml": None}, {"META-INF__container_xml": "<oops"}])
def test_a_book_without_its_table_is_damaged(broken: dict[str, str | None]) -> None:
    with pytest.raises(ParseFailed) as told:
        read_document(book(**broken), "x.epub", ParseLimits())
    assert told.value.reason == ParseReason.DAMAGED
