"""Slides: what stands outside the main flow of text is read, in the order in which people read it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import BlockKind, ParseReason
from opora.ingest.limits import ParseLimits
from opora.ingest.parse.pptx import NOTES
from opora.ingest.read import read_document

DECK = Path(__file__).parents[2] / "cases" / "files" / "office" / "deck.pptx"


def read(presentation: Any, **limits: Any) -> Any:
    out = io.BytesIO()
    presentation.save(out)
    return read_document(out.getvalue(), "слайды.pptx", ParseLimits(**limits))


def with_text(slide: Any, text: str, left: float, top: float) -> Any:
    box = slide.shapes.add_textbox(Inches(left), Inches(top), Inches(2), Inches(0.5))
    box.text_frame.text = text
    return box


def test_the_handed_deck_keeps_table_group_code_and_note_and_glues_nothing() -> None:
    parsed = read_document(DECK.read_bytes(), "deck.pptx", ParseLimits())
    for wanted in ("План | Цена", "Внутри группы: скидка 15%", "код ZX-9"):
        assert wanted in parsed.text
    assert "БЛОКВТОРОЙ" not in parsed.text
    assert any(NOTES in block.place.heading_path for block in parsed.blocks)
    assert {block.place.page for block in parsed.blocks} == set(range(1, parsed.metadata["slides"] + 1))


def test_text_is_read_from_top_to_bottom_and_from_left_to_right() -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Заголовок"
    for text, left, top in (("четвёртый", 5, 4), ("второй", 5, 2.02), ("третий", 1, 4), ("первый", 1, 2)):
        with_text(slide, text, left, top)
    parsed = read(deck)
    assert [block.text for block in parsed.blocks] == ["Заголовок", "первый", "второй", "третий", "четвёртый"]
    assert parsed.title == "Заголовок"
    assert parsed.blocks[1].place.heading_path == ("Заголовок",)


def test_members_of_a_group_stand_where_the_group_puts_them() -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    with_text(slide, "середина", 1, 3)
    inner = [with_text(slide, "в группе выше", 0, 0), with_text(slide, "в группе ниже", 0, 1)]
    group = slide.shapes.add_group_shape(inner)
    group.top, group.left, group.height = Inches(2), Inches(1), Inches(4)
    assert read(deck).text.split("\n\n") == ["в группе выше", "середина", "в группе ниже"]


def test_tables_charts_and_lists_become_blocks_of_their_kind() -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Итоги"
    frame = slide.placeholders[1].text_frame
    frame.text = "Первый пункт"
    inner = frame.add_paragraph()
    inner.text, inner.level = "подпункт", 1
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(5), Inches(4), Inches(1)).table
    for (row, column), text in {(0, 0): "План", (0, 1): "Цена", (1, 0): "Старт", (1, 1): "90"}.items():
        table.cell(row, column).text = text
    data = CategoryChartData()
    data.categories = ["Май", "Июнь"]
    data.add_series("Выручка", (1.5, 2))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(6), Inches(4), Inches(2), data)
    blocks = read(deck).blocks
    assert (blocks[1].kind, blocks[1].text) == (BlockKind.LIST, "- Первый пункт\n  - подпункт")
    tables = [block.text for block in blocks if block.kind is BlockKind.TABLE]
    assert tables == ["План | Цена\nСтарт | 90", "Выручка\nМай | 1.5\nИюнь | 2"]


def test_hidden_slides_are_read_and_named_and_numbers_and_dates_are_left_out() -> None:
    deck = Presentation()
    deck.core_properties.title = "PowerPoint Presentation"
    for text in ("видно", "скрыто"):
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        with_text(slide, text, 1, 1)
    slide.element.set("show", "0")
    parsed = read(deck)
    assert parsed.metadata == {"slides": 2, "hidden_slides": [2]}
    assert parsed.text == "видно\n\nскрыто"
    assert parsed.title == ""


def test_too_many_slides_and_broken_parts_have_reasons() -> None:
    deck = Presentation()
    for _ in range(3):
        with_text(deck.slides.add_slide(deck.slide_layouts[6]), "текст", 1, 1)
    with pytest.raises(ParseFailed) as told:
        read(deck, pages=2)
    assert told.value.reason == ParseReason.PAGE_LIMIT
    import zipfile

    out, broken = io.BytesIO(), io.BytesIO()
    deck.save(out)
    with zipfile.ZipFile(out) as source, zipfile.ZipFile(broken, "w") as target:
        for name in source.namelist():
            target.writestr(name, b"<broken" if name.startswith("ppt/slides/slide1") else source.read(name))
    with pytest.raises(ParseFailed) as told:
        read_document(broken.getvalue(), "x.pptx", ParseLimits())
    assert told.value.reason == ParseReason.DAMAGED
