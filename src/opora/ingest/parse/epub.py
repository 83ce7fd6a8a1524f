"""Reads e-books: the chapters in the order of reading, each by the parser of web pages."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import unquote

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import Block, ParsedDocument, ParseReason
from opora.ingest.archive import CappedArchive, encrypted
from opora.ingest.limits import ParseLimits
from opora.ingest.parse.html import parse as parse_page

if TYPE_CHECKING:
    from lxml.etree import _Element

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = frozenset({"application/xhtml+xml", "text/html"})
_SMALL = 8 * 1024 * 1024


def parse(data: bytes, file_name: str, limits: ParseLimits) -> ParsedDocument:
    archive = CappedArchive(data, limits)
    if _ENCRYPTION in archive and b"xmlenc#aes" in archive.read(_ENCRYPTION, at_most=_SMALL):
        raise encrypted("The book")
    name = _package_name(archive)
    package = _xml(archive, name)
    folder = posixpath.dirname(name)
    blocks: list[Block] = []
    for chapter in _chapters(package, folder):
        if chapter in archive:
            blocks += _own(parse_page(archive.read(chapter), chapter, limits).blocks)
    return ParsedDocument(
        blocks=tuple(blocks),
        file_type="epub",
        title=_said(package, "title"),
        metadata={key: text for key in ("creator", "language", "publisher") if (text := _said(package, key))},
    )


def _own(blocks: tuple[Block, ...]) -> Iterator[Block]:
    """The blocks of one page: their offsets are those of the page and say nothing in the book."""
    for block in blocks:
        yield replace(block, place=replace(block.place, start=0, end=0))


def _package_name(archive: CappedArchive) -> str:
    if _CONTAINER in archive:
        for node in _xml(archive, _CONTAINER).iter("{*}rootfile"):
            if (name := unquote(str(node.get("full-path") or ""))) in archive:
                return name
    raise _damaged()


def _chapters(package: _Element, folder: str) -> list[str]:
    """Names of the pages in the order of the spine."""
    items = {
        str(node.get("id")): posixpath.normpath(posixpath.join(folder, unquote(str(node.get("href") or ""))))
        for node in package.iter("{*}item")
        if node.get("media-type") in _PAGES
    }
    return [items[key] for node in package.iter("{*}itemref") if (key := str(node.get("idref"))) in items]


def _said(package: _Element, name: str) -> str:
    node = next(package.iter(f"{{http://purl.org/dc/elements/1.1/}}{name}"), None)
    return " ".join((node.text or "").split()) if node is not None else ""


def _xml(archive: CappedArchive, name: str) -> _Element:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True, remove_comments=True)
    try:
        return etree.fromstring(archive.read(name, at_most=_SMALL), parser)
    except etree.XMLSyntaxError as error:
        raise _damaged() from error


def _damaged() -> ParseFailed:
    return ParseFailed(
        ParseReason.DAMAGED, "The e-book is damaged: its table of parts cannot be read.", hint="Download it again."
    )
