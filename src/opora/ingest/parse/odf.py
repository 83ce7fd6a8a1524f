"""Reads OpenDocument texts and slides as they stand once every tracked change is accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import Block, BlockKind, ParsedDocument, ParseReason, Place
from opora.ingest.archive import CappedArchive, encrypted
from opora.ingest.limits import ParseLimits
from opora.ingest.parse.outline import Outline
from opora.ingest.parse.rows import CELL_JOIN, table_block

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_LIST_DEPTH = 8
MAX_REPEATED = 1_000
"""A row or cell that is declared to be repeated more often is shown once: it is padding."""
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_PRESENTATION = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}"
_DC_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_DROPPED = frozenset(
    {f"{_TEXT}tracked-changes", f"{_OFFICE}annotation", f"{_OFFICE}annotation-end", f"{_OFFICE}forms"}
    | {f"{_TEXT}table-of-content", f"{_TEXT}alphabetical-index", f"{_OFFICE}event-listeners"}
)
"""What was deleted is kept in ``tracked-changes`` only; comments and lists of contents are no text of their own."""


def parse(data: bytes, file_name: str, limits: ParseLimits) -> ParsedDocument:
    archive = CappedArchive(data, limits)
    if b"encryption-data" in _part(archive, "META-INF/manifest.xml"):
        raise encrypted("The document")
    root = _xml(_part(archive, "content.xml"))
    body = root.find(f"{_OFFICE}body")
    if body is None:
        raise _damaged()
    is_slides = body.find(f"{_OFFICE}presentation") is not None
    reader = _Reader(limits.depth)
    reader.walk(body, limits.depth)
    reader.flush()
    title = ""
    if "meta.xml" in archive:
        node = next(_xml(_part(archive, "meta.xml")).iter(_DC_TITLE), None)
        title = " ".join((node.text or "").split()) if node is not None else ""
    first = next((block.text for block in reader.blocks if block.kind is BlockKind.HEADING), "")
    kind = "odp" if is_slides else "odt"
    return ParsedDocument(blocks=tuple(reader.blocks), file_type=kind, title=title or first)


class _Reader:
    """Walks a body and makes its blocks; each slide is a page with its title as heading."""

    def __init__(self, depth: int) -> None:
        self.blocks: list[Block] = []
        self._depth = depth
        self._outline = Outline()
        self._items: list[str] = []
        self._page = 0

    def walk(self, parent: _Element, depth: int) -> None:
        if depth < 0:
            raise _damaged()
        for node in parent:
            if node.tag in _DROPPED or not isinstance(node.tag, str):
                continue
            if node.tag == f"{_TEXT}h":
                self._heading(node)
            elif node.tag == f"{_TEXT}p":
                self._paragraph(node)
            elif node.tag == f"{_TEXT}list":
                self._list(node, 0)
                self.flush()
            elif node.tag == f"{_TABLE}table":
                self._table(node)
            elif node.tag == f"{_DRAW}page":
                self._slide(node, depth)
            elif node.tag == f"{_PRESENTATION}notes":
                self._notes(node, depth)
            else:
                self.walk(node, depth - 1)

    def flush(self) -> None:
        if self._items:
            self.blocks.append(Block(kind=BlockKind.LIST, text="\n".join(self._items), place=self._place()))
            self._items = []

    def _place(self) -> Place:
        page = self._page or None
        return Place(page=page, page_end=page, heading_path=self._outline.path)

    def _heading(self, node: _Element) -> None:
        self.flush()
        if title := _line(node):
            level = node.get(f"{_TEXT}outline-level") or "1"
            self.blocks.append(self._outline.heading(int(level) if level.isdecimal() else 1, title))

    def _paragraph(self, node: _Element) -> None:
        self.flush()
        if text := _words(node).strip():
            self.blocks.append(Block(kind=BlockKind.PARAGRAPH, text=text, place=self._place()))
        for table in node.iter(f"{_TABLE}table"):
            self._table(table)

    def _list(self, node: _Element, level: int) -> None:
        if level > self._depth:
            raise _damaged()
        for item in node:
            for part in item:
                if part.tag == f"{_TEXT}list":
                    self._list(part, level + 1)
                elif part.tag in (f"{_TEXT}p", f"{_TEXT}h") and (text := _line(part)):
                    self._items.append(f"{'  ' * min(level, MAX_LIST_DEPTH)}- {text}")

    def _table(self, node: _Element) -> None:
        self.flush()
        rows = [CELL_JOIN.join(cells) for row in node.iter(f"{_TABLE}table-row") for cells in _cells(row) if any(cells)]
        if len(rows) > 1:
            self.blocks.append(table_block(rows[0], rows[1:], self._place()))
        elif rows:
            self.blocks.append(Block(kind=BlockKind.PARAGRAPH, text=rows[0], place=self._place()))

    def _slide(self, node: _Element, depth: int) -> None:
        self.flush()
        self._page += 1
        title = next((f for f in node.iter(f"{_DRAW}frame") if f.get(f"{_PRESENTATION}class") == "title"), None)
        heading = _line(title) if title is not None else ""
        place = Place(page=self._page, page_end=self._page, heading_path=self._outline.enter(1, heading))
        if title is not None and heading:
            self.blocks.append(Block(kind=BlockKind.HEADING, text=heading, level=1, place=place))
            parent = title.getparent()
            if parent is not None:
                parent.remove(title)
        self.walk(node, depth - 1)
        self.flush()

    def _notes(self, node: _Element, depth: int) -> None:
        self.flush()
        self._outline.enter(2, "Notes")
        for frame in list(node.iter(f"{_DRAW}frame")):
            self.walk(frame, depth - 1)


def _cells(row: _Element) -> list[list[str]]:
    cells: list[str] = []
    for cell in row:
        if cell.tag in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            text = " ".join(_line(part) for part in cell.iter(f"{_TEXT}p", f"{_TEXT}h"))
            times = _repeated(cell, "number-columns-repeated") if text else 1
            cells += [" ".join(text.split())] * times
    return [cells] * (_repeated(row, "number-rows-repeated") if any(cells) else 1)


def _repeated(node: _Element, name: str) -> int:
    count = node.get(f"{_TABLE}{name}") or "1"
    times = int(count) if count.isdecimal() and len(count) < 10 else 1
    return times if 0 < times <= MAX_REPEATED else 1


def _line(node: _Element) -> str:
    return " ".join(_words(node).split())


def _words(node: _Element) -> str:
    """The text of a paragraph with its notes in brackets; blanks and breaks are elements of the format."""
    parts = [node.text or ""]
    for child in node:
        tag = child.tag
        if tag == f"{_TEXT}s":
            count = child.get(f"{_TEXT}c") or "1"
            parts.append(" " * min(int(count) if count.isdecimal() else 1, 100))
        elif tag == f"{_TEXT}tab":
            parts.append("\t")
        elif tag == f"{_TEXT}line-break":
            parts.append("\n")
        elif tag == f"{_TEXT}note":
            body = child.find(f"{_TEXT}note-body")
            words = _line(body) if body is not None else ""
            parts.append(f" [{words}]" if words else "")
        elif tag not in _DROPPED and tag != f"{_TABLE}table" and isinstance(tag, str):
            parts.append(_words(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _part(archive: CappedArchive, name: str) -> bytes:
    return archive.read(name) if name in archive else b""


def _xml(data: bytes) -> _Element:
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False, load_dtd=False, no_network=True, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise _damaged() from error


def _damaged() -> ParseFailed:
    return ParseFailed(
        ParseReason.DAMAGED,
        "The OpenDocument file is damaged and cannot be read.",
        hint="Open it in the program that made it, save it again and upload the new file.",
    )
