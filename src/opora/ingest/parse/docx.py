"""Reads Word documents as they stand once every tracked change is accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opora.domain.knowledge import Block, BlockKind, ParsedDocument, Place
from opora.ingest.archive import CappedArchive
from opora.ingest.limits import ParseLimits
from opora.ingest.parse.docx_parts import DocxParts, attribute, children, q
from opora.ingest.parse.docx_styles import Numbering, Styles
from opora.ingest.parse.docx_text import ParagraphText, read_paragraph
from opora.ingest.parse.outline import Outline
from opora.ingest.parse.rows import CELL_JOIN, table_block

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_LIST_DEPTH = 8
_WRAPPERS = frozenset({q("sdt"), q("sdtContent"), q("customXml"), q("ins"), q("moveTo"), q("smartTag")})


def parse(data: bytes, file_name: str, limits: ParseLimits) -> ParsedDocument:
    parts = DocxParts(CappedArchive(data, limits))
    reader = _BodyReader(parts)
    body = parts.main.find(q("body"))
    if body is not None:
        reader.read(body)
    for extra in parts.headers_and_footers():
        reader.read_margin(extra)
    title = parts.title or next((block.place.heading_path[-1] for block in reader.blocks if block.level == 1), "")
    return ParsedDocument(blocks=tuple(reader.blocks), file_type="docx", title=title)


class _BodyReader:
    """Walks a story (body, cell, note, header) and makes its blocks."""

    def __init__(self, parts: DocxParts) -> None:
        self.blocks: list[Block] = []
        self._notes = parts.notes()
        self._styles = Styles(parts.styles)
        self._numbering = Numbering(parts.numbering)
        self._outline = Outline()
        self._items: list[str] = []
        self._carried = ""
        self._margins: set[str] = set()

    def read(self, story: _Element) -> None:
        self._walk(story)
        self._flush()

    def read_margin(self, story: _Element) -> None:
        """Headers and footers: each text once, however many sections repeat it."""
        lines = [text for text in self._flat(story) if text]
        text = "\n".join(lines)
        if text and text not in self._margins:
            self._margins.add(text)
            self.blocks.append(Block(kind=BlockKind.PARAGRAPH, text=text))

    def _walk(self, story: _Element) -> None:
        for node in children(story):
            if node.tag == q("p"):
                self._paragraph(node)
            elif node.tag == q("tbl"):
                self._flush()
                self._table(node)
            elif node.tag in _WRAPPERS:
                self._walk(node)

    def _paragraph(self, node: _Element) -> None:
        read = read_paragraph(node)
        text = self._carried + read.text
        if read.mark_deleted:
            self._carried = text
            return
        self._carried = ""
        text = text.strip()
        properties = node.find(q("pPr"))
        level = self._styles.heading_level(properties)
        number = self._styles.list_number(properties) if text else None
        label = self._numbering.label(*number) if number else ""
        if text and level:
            self._flush()
            self.blocks.append(self._outline.heading(level, f"{label} {text}" if label not in ("", "-") else text))
        elif text and number:
            depth = min(self._styles.list_depth(properties, number[1]), MAX_LIST_DEPTH)
            self._items.append(f"{'  ' * depth}{label or '-'} {' '.join(text.split(chr(10)))}")
        elif text:
            self._flush()
            self._add(BlockKind.PARAGRAPH, text)
        self._outside(read)

    def _outside(self, read: ParagraphText) -> None:
        """What hangs on a paragraph without standing in it: its notes and text boxes."""
        notes = [note for note in (self._notes.get(key) for key in read.notes) if note is not None]
        if notes or read.boxes:
            self._flush()
        for note in notes:
            self._add(BlockKind.FOOTNOTE, "\n".join(text for text in self._flat(note) if text))
        for box in read.boxes:
            self._walk(box)
            self._flush()

    def _table(self, table: _Element) -> None:
        rows = [row for row in self._rows(table) if row.strip(" |")]
        place = Place(heading_path=self._outline.path)
        if len(rows) > 1:
            self.blocks.append(table_block(rows[0], rows[1:], place))
        elif rows:
            self.blocks.append(Block(kind=BlockKind.TABLE, text=rows[0], rows=(rows[0],), place=place))

    def _rows(self, table: _Element) -> list[str]:
        rows: list[str] = []
        for row in _inside(table, q("tr")):
            properties = row.find(q("trPr"))
            if properties is not None and properties.find(q("del")) is not None:
                continue
            cells = [self._cell(cell) for cell in _inside(row, q("tc"))]
            rows.append(CELL_JOIN.join(cells).rstrip(" |"))
        return rows

    def _cell(self, cell: _Element) -> str:
        """One line; a cell that continues a merged one is empty, so that its text is said once."""
        properties = cell.find(q("tcPr"))
        if properties is not None:
            for name in ("vMerge", "hMerge"):
                merge = properties.find(q(name))
                if merge is not None and attribute(merge, "val") != "restart":
                    return ""
        return " ".join(" ".join(text for text in self._flat(cell) if text).split())

    def _flat(self, story: _Element) -> list[str]:
        """Texts of a story's paragraphs and of the tables inside it, one a line."""
        lines: list[str] = []
        for node in children(story):
            if node.tag == q("p"):
                read = read_paragraph(node)
                number = self._styles.list_number(node.find(q("pPr"))) if read.text.strip() else None
                label = self._numbering.label(*number) if number else ""
                lines.append(f"{label} {read.text.strip()}".strip())
                for key in read.notes:
                    note = self._notes.get(key)
                    lines.extend(f"({text})" for text in (self._flat(note) if note is not None else ()) if text)
                for box in read.boxes:
                    lines.extend(self._flat(box))
            elif node.tag == q("tbl"):
                inner = [row for row in self._rows(node) if row.strip(" |")]
                lines.append("(" + "; ".join(inner) + ")" if inner else "")
            elif node.tag in _WRAPPERS:
                lines.extend(self._flat(node))
        return lines

    def _add(self, kind: BlockKind, text: str) -> None:
        if text.strip():
            self.blocks.append(Block(kind=kind, text=text, place=Place(heading_path=self._outline.path)))

    def _flush(self) -> None:
        if self._items:
            items, self._items = self._items, []
            self._add(BlockKind.LIST, "\n".join(items))


def _inside(parent: _Element, tag: str) -> list[_Element]:
    """Children of a kind, also those inside wrappers such as content controls."""
    found: list[_Element] = []
    for node in children(parent):
        if node.tag == tag:
            found.append(node)
        elif node.tag in _WRAPPERS:
            found.extend(_inside(node, tag))
    return found
