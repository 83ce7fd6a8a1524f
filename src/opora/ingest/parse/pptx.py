"""Reads slides: titles, text in the order of reading, groups, tables, charts, diagrams and the speaker's notes."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import Block, BlockKind, ParsedDocument, ParseReason, Place
from opora.ingest.archive import CappedArchive
from opora.ingest.limits import ParseLimits
from opora.ingest.parse.rows import CELL_JOIN, cell_text, table_block

NOTES = "Notes"
"""What stands in the heading path of a speaker's notes."""
_BAND = 182_880
"""Shapes whose tops differ by less than this (a fifth of an inch, in the units of the format) stand in one row."""
_DIAGRAM = "/diagramData"
_TEXT = "{http://schemas.openxmlformats.org/drawingml/2006/main}t"
_MARGINS = frozenset({"SLIDE_NUMBER", "DATE", "FOOTER", "HEADER"})


def parse(data: bytes, file_name: str, limits: ParseLimits) -> ParsedDocument:
    from lxml.etree import XMLSyntaxError
    from pptx import Presentation
    from pptx.exc import PythonPptxError

    packed = CappedArchive(data, limits).repack(lambda name: True)
    reader = _Reader(limits)
    try:
        presentation = Presentation(packed)
        for number, slide in enumerate(presentation.slides, start=1):
            reader.read(slide, number)
        title = " ".join((presentation.core_properties.title or "").split())
    except (PythonPptxError, XMLSyntaxError, KeyError, ValueError, AttributeError, zipfile.BadZipFile) as error:
        raise _damaged() from error
    hidden = {"hidden_slides": reader.hidden} if reader.hidden else {}
    named = "" if title.lower() in ("powerpoint presentation", "презентация powerpoint") else title
    first = next((block.text for block in reader.blocks if block.kind is BlockKind.HEADING), "")
    return ParsedDocument(
        blocks=tuple(reader.blocks),
        file_type="pptx",
        title=named or first,
        metadata={"slides": reader.slides, **hidden},
    )


@dataclass
class _Reader:
    limits: ParseLimits
    blocks: list[Block] = field(default_factory=list)
    hidden: list[int] = field(default_factory=list)
    slides: int = 0

    def read(self, slide: Any, number: int) -> None:
        if number > self.limits.pages:
            raise ParseFailed(
                ParseReason.PAGE_LIMIT,
                f"The presentation has more than {self.limits.pages} slides.",
                hint="Split it into smaller ones.",
            )
        self.slides = number
        if slide.element.get("show") in ("0", "false"):
            self.hidden.append(number)
        title = slide.shapes.title
        heading = " ".join(title.text_frame.text.split()) if title is not None else ""
        path = (heading,) if heading else ()
        place = Place(page=number, page_end=number, heading_path=path)
        if heading:
            self.blocks.append(Block(kind=BlockKind.HEADING, text=heading, level=1, place=place))
        for shape in _ordered(slide.shapes, self.limits.depth):
            if title is None or shape.shape_id != title.shape_id:
                self.blocks += _blocks(shape, place)
        self.blocks += _diagrams(slide, place)
        if slide.has_notes_slide and (frame := slide.notes_slide.notes_text_frame) is not None:
            notes = Place(page=number, page_end=number, heading_path=(*path, NOTES))
            if text := _lines(frame.text):
                self.blocks.append(Block(kind=BlockKind.PARAGRAPH, text=text, place=notes))


def _ordered(shapes: Any, depth: int) -> list[Any]:
    """The shapes of a slide, those of groups among them, from top to bottom and from left to right."""
    placed = sorted(_placed(shapes, (1.0, 0.0, 1.0, 0.0), depth), key=lambda one: one[:2])
    return [shape for _, _, shape in placed]


def _placed(shapes: Any, scale: tuple[float, float, float, float], depth: int) -> Iterator[tuple[int, float, Any]]:
    """Row, left edge and shape, in the units of the slide; ``scale`` is what a group does to its members."""
    if depth < 0:
        raise _damaged()
    x_factor, x_shift, y_factor, y_shift = scale
    for shape in shapes:
        left, top = (shape.left or 0) * x_factor + x_shift, (shape.top or 0) * y_factor + y_shift
        if getattr(shape, "shapes", None) is not None:
            yield from _placed(shape.shapes, _inside(shape, scale), depth - 1)
        elif not _is_margin(shape):
            yield round(top / _BAND), left, shape


def _inside(group: Any, scale: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    """The scale for the members of a group, whose coordinates are the group's own."""
    x_factor, x_shift, y_factor, y_shift = scale
    frame = group.element.grpSpPr.find("{http://schemas.openxmlformats.org/drawingml/2006/main}xfrm")
    if frame is None:
        return scale
    sizes = {child.tag.rpartition("}")[2]: child for child in frame}
    if not {"off", "ext", "chOff", "chExt"} <= set(sizes):
        return scale
    off, ext, inner, inner_ext = (sizes[name] for name in ("off", "ext", "chOff", "chExt"))
    x = int(ext.get("cx", 0)) / (int(inner_ext.get("cx", 0)) or 1)
    y = int(ext.get("cy", 0)) / (int(inner_ext.get("cy", 0)) or 1)
    x_start = int(off.get("x", 0)) - int(inner.get("x", 0)) * x
    y_start = int(off.get("y", 0)) - int(inner.get("y", 0)) * y
    return x * x_factor, x_start * x_factor + x_shift, y * y_factor, y_start * y_factor + y_shift


def _is_margin(shape: Any) -> bool:
    """Dates, numbers and footers say nothing of a slide."""
    return (
        bool(shape.is_placeholder)
        and shape.placeholder_format.type is not None
        and (shape.placeholder_format.type.name in _MARGINS)
    )


def _blocks(shape: Any, place: Place) -> Iterator[Block]:
    if getattr(shape, "has_table", False):
        rows = [[_lines(cell.text).replace("\n", " ") for cell in row.cells] for row in shape.table.rows]
        yield from _table([CELL_JOIN.join(row) for row in rows if any(row)], place)
    elif getattr(shape, "has_chart", False):
        yield from _chart(shape.chart, place)
    elif shape.has_text_frame:
        paragraphs = ((one.level, _lines(one.text).replace("\n", " ")) for one in shape.text_frame.paragraphs)
        filled = [(level, text) for level, text in paragraphs if text]
        if shape.is_placeholder and len(filled) > 1:
            text = "\n".join(f"{'  ' * level}- {text}" for level, text in filled)
            yield Block(kind=BlockKind.LIST, text=text, place=place)
        elif filled:
            yield Block(kind=BlockKind.PARAGRAPH, text="\n".join(text for _, text in filled), place=place)


def _table(rows: list[str], place: Place) -> Iterator[Block]:
    if len(rows) > 1:
        yield table_block(rows[0], rows[1:], place)
    elif rows:
        yield Block(kind=BlockKind.PARAGRAPH, text=rows[0], place=place)


def _chart(chart: Any, place: Place) -> Iterator[Block]:
    """A chart as the table that it was drawn from."""
    if chart.has_title and (title := _lines(chart.chart_title.text_frame.text)):
        yield Block(kind=BlockKind.PARAGRAPH, text=title, place=place)
    for plot in chart.plots:
        series = list(plot.series)
        names = [str(category) for category in plot.categories]
        head = CELL_JOIN.join(["", *(one.name for one in series)]).strip(" |")
        rows = [
            CELL_JOIN.join([name, *(cell_text(_value(one, index)) for one in series)])
            for index, name in enumerate(names)
        ]
        yield from _table([head, *rows], place)


def _value(series: Any, index: int) -> object:
    values = series.values
    return values[index] if index < len(values) else None


def _diagrams(slide: Any, place: Place) -> Iterator[Block]:
    """The words of diagrams, which stand in parts of their own."""
    from lxml import etree

    for relation in slide.part.rels.values():
        if relation.reltype.endswith(_DIAGRAM) and not relation.is_external:
            parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True)
            root = etree.fromstring(relation.target_part.blob, parser)
            words = [" ".join((node.text or "").split()) for node in root.iter(_TEXT)]
            if text := "\n".join(f"- {word}" for word in words if word):
                yield Block(kind=BlockKind.LIST, text=text, place=place)


def _lines(text: str) -> str:
    lines = (" ".join(line.split()) for line in text.replace("\v", "\n").splitlines())
    return "\n".join(line for line in lines if line)


def _damaged() -> ParseFailed:
    return ParseFailed(
        ParseReason.DAMAGED,
        "The presentation is damaged and cannot be read.",
        hint="Open it in the program that made it, save it again as PPTX and upload the new file.",
    )
