"""Reads web pages: headings, paragraphs, lists, tables and code, without navigation and scripts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import Block, BlockKind, ParsedDocument, ParseReason, Place
from opora.ingest.limits import ParseLimits
from opora.ingest.parse.outline import Outline
from opora.ingest.parse.rows import CELL_JOIN, table_block
from opora.text.decode import decode

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

DROPPED = (
    "script, style, noscript, template, nav, svg, iframe, object, button, select, input, textarea, canvas, dialog, "
    "[hidden], [aria-hidden=true], [role=navigation], [role=banner], [role=contentinfo], [role=search], "
    "body > header nav, body > footer"
)
_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "body", "center", "dd", "details", "div", "dl", "dt", "fieldset"}
    | {"figcaption", "figure", "footer", "form", "header", "hr", "html", "legend", "main", "p", "section", "summary"}
)
_LISTS = frozenset({"ul", "ol", "menu"})
_CHARSET = re.compile(rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.\-]{2,40})", re.IGNORECASE)
_SPACES = re.compile(r"[^\S\u00a0]+")
MAX_LIST_DEPTH = 8


def parse(data: bytes, file_name: str, limits: ParseLimits) -> ParsedDocument:
    from selectolax.lexbor import LexborHTMLParser

    found = _CHARSET.search(data[:4096])
    decoded = decode(data, declared=found.group(1).decode("ascii") if found else "")
    tree = LexborHTMLParser(decoded.text)
    title_node = tree.css_first("title")
    title = _line(title_node.text()) if title_node is not None else ""
    for node in tree.css(DROPPED):
        node.decompose()
    reader = _PageReader(limits.depth)
    root = tree.body
    if root is not None:
        reader.read(root)
    first = next((block.place.heading_path[-1] for block in reader.blocks if block.level == 1), "")
    metadata = {"encoding": decoded.encoding}
    return ParsedDocument(blocks=tuple(reader.blocks), file_type="html", title=title or first, metadata=metadata)


class _PageReader:
    """Walks a page without recursion, gathering text between the ends of block elements."""

    def __init__(self, depth: int) -> None:
        self.blocks: list[Block] = []
        self._outline = Outline()
        self._words: list[str] = []
        self._items: list[str] = []
        self._lists: list[list[Any]] = []
        self._depth = depth

    def read(self, root: LexborNode) -> None:
        node: LexborNode | None = root
        level = 0
        while node is not None:
            child = node.child if self._enter(node) else None
            if child is not None:
                level += 1
                if level > self._depth * 5:
                    raise _too_deep()
                node = child
                continue
            while node is not None:
                self._leave(node)
                if node.mem_id == root.mem_id:
                    node = None
                elif node.next is not None:
                    node = node.next
                    break
                else:
                    node = node.parent
                    level -= 1
        self._flush()
        self._flush_list()

    def _enter(self, node: LexborNode) -> bool:
        """Begin a node; True when its children are to be walked."""
        tag = node.tag or ""
        if tag == "-text":
            self._words.append(_SPACES.sub(" ", node.text(deep=False) or ""))
            return False
        if tag.startswith("-") or tag == "head":
            return False
        if tag == "br":
            self._words.append("\n")
            return False
        if tag in _HEADINGS:
            self._flush()
            self._flush_list()
            words = _line(node.text())
            if words:
                self.blocks.append(self._outline.heading(_HEADINGS[tag], words))
            return False
        if tag == "pre":
            self._add(BlockKind.CODE, (node.text() or "").strip("\n").rstrip())
            return False
        if tag == "table" and not _is_layout(node):
            self._table(node)
            return False
        if tag in _LISTS:
            self._flush()
            self._lists.append([tag, 0])
        elif tag in _BLOCKS or tag in {"li", "table", "tr", "td", "th", "caption", "tbody", "thead", "tfoot"}:
            self._flush()
            if tag == "li" and self._lists:
                self._lists[-1][1] += 1
        elif tag == "img":
            alt = _line(node.attributes.get("alt") or "")
            self._words.append(f" {alt} " if alt else "")
        return True

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _LISTS:
            self._flush()
            if self._lists:
                self._lists.pop()
            if not self._lists:
                self._flush_list()
        elif tag in _BLOCKS or tag in {"li", "table", "tr", "td", "th", "caption"}:
            self._flush()

    def _flush(self) -> None:
        """End the running paragraph: an item inside a list, a block elsewhere."""
        lines = [_line(line) for line in "".join(self._words).split("\n")] if self._words else []
        self._words = []
        text = "\n".join(line for line in lines if line)
        if not text:
            return
        if not self._lists:
            self.blocks.append(self._made(BlockKind.PARAGRAPH, text))
            return
        kind, number = self._lists[-1]
        mark = f"{number}." if kind == "ol" else "-"
        indent = "  " * min(len(self._lists) - 1, MAX_LIST_DEPTH)
        self._items.append(f"{indent}{mark} {' '.join(text.split(chr(10)))}")

    def _flush_list(self) -> None:
        if self._items:
            self.blocks.append(self._made(BlockKind.LIST, "\n".join(self._items)))
            self._items = []

    def _add(self, kind: BlockKind, text: str) -> None:
        self._flush()
        self._flush_list()
        if text.strip():
            self.blocks.append(self._made(kind, text))

    def _made(self, kind: BlockKind, text: str) -> Block:
        return Block(kind=kind, text=text, place=Place(heading_path=self._outline.path))

    def _table(self, node: LexborNode) -> None:
        self._flush()
        self._flush_list()
        caption = node.css_first("caption")
        if caption is not None:
            self._add(BlockKind.PARAGRAPH, _line(caption.text()))
        rows: list[str] = []
        for row in node.css("tr"):
            cells = [_line(cell.text(separator=" ")) for cell in row.css("td, th")]
            if any(cells):
                rows.append(CELL_JOIN.join(cells))
        if len(rows) > 1:
            self.blocks.append(table_block(rows[0], rows[1:], Place(heading_path=self._outline.path)))
        elif rows:
            self._add(BlockKind.PARAGRAPH, rows[0])


def _is_layout(node: LexborNode) -> bool:
    """Old pages put their whole text into tables: one that holds others, or headings, is no table of data."""
    return node.css_first("table table, h1, h2, h3, ul, ol, p + p") is not None


def _line(text: str | None) -> str:
    return _SPACES.sub(" ", text or "").strip()


def _too_deep() -> ParseFailed:
    return ParseFailed(
        ParseReason.DAMAGED,
        "The page nests its elements too deeply to be read.",
        hint="Save the page again from a browser, or copy its text into a file.",
    )
