"""Reads the text of one Word paragraph: insertions in, deletions out, what hangs on it told apart."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from opora.ingest.parse.docx_parts import attribute, children, q

if TYPE_CHECKING:
    from lxml.etree import _Element

_MATH_TEXT = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
_ALTERNATE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"
_CHOICE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Choice"
_SKIPPED = frozenset({q("del"), q("moveFrom"), q("pPr"), q("instrText"), q("delText"), q("delInstrText"), q("rPr")})
_SIGNS = {
    q("tab"): " ",
    q("cr"): "\n",
    q("noBreakHyphen"): "-",
    q("softHyphen"): "",
}
_NOTES = {q("footnoteReference"): "footnote", q("endnoteReference"): "endnote"}


@dataclass(slots=True, kw_only=True)
class ParagraphText:
    """A paragraph's own text, and the notes and text boxes that hang on it, in order."""

    text: str = ""
    notes: list[tuple[str, str]] = field(default_factory=list)
    boxes: list[_Element] = field(default_factory=list)
    mark_deleted: bool = False
    """True when the paragraph's end was deleted: its text runs on into the next paragraph."""


def read_paragraph(node: _Element) -> ParagraphText:
    read = ParagraphText(mark_deleted=_mark_deleted(node))
    pieces: list[str] = []
    _gather(node, pieces, read)
    read.text = "".join(pieces)
    return read


def _gather(node: _Element, pieces: list[str], read: ParagraphText) -> None:
    for child in children(node):
        tag = child.tag
        if tag in _SKIPPED:
            continue
        if tag in (q("t"), _MATH_TEXT):
            pieces.append(child.text or "")
        elif tag in _SIGNS:
            pieces.append(_SIGNS[tag])
        elif tag == q("br"):
            pieces.append("\n" if attribute(child, "type") in ("", "textWrapping") else " ")
        elif tag in _NOTES:
            read.notes.append((_NOTES[tag], attribute(child, "id")))
        elif tag == q("txbxContent"):
            read.boxes.append(child)
        elif tag == _ALTERNATE:
            choice = child.find(_CHOICE)
            _gather(choice if choice is not None else child, pieces, read)
        elif tag == q("r") and _is_hidden(child):
            continue
        else:
            _gather(child, pieces, read)


def _is_hidden(run: _Element) -> bool:
    properties = run.find(q("rPr"))
    hidden = properties.find(q("vanish")) if properties is not None else None
    return hidden is not None and attribute(hidden, "val") not in ("0", "false", "off")


def _mark_deleted(node: _Element) -> bool:
    mark = node.find(f"{q('pPr')}/{q('rPr')}")
    return mark is not None and (mark.find(q("del")) is not None or mark.find(q("moveFrom")) is not None)
