from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from opora.domain.knowledge import Block, BlockKind, Box, Chunk, ParsedDocument, Place

Split = Callable[..., list[Chunk]]


def box(line: int, page: int = 1) -> Box:
    return Box(page=page, x0=10, y0=20 * line, x1=500, y1=20 * line + 12)


def lined(count: int, first_page: int = 1, lines_on_page: int = 1000) -> Block:
    boxes = tuple(box(line, first_page + line // lines_on_page) for line in range(count))
    text = "\n".join(f"Строка {line} о порядке возмещения." for line in range(count))
    place = Place(page=boxes[0].page, page_end=boxes[-1].page, boxes=boxes)
    return Block(kind=BlockKind.PARAGRAPH, text=text, place=place)


def test_boxes_are_those_of_the_lines_covered(split: Split) -> None:
    block = lined(60)
    document = ParsedDocument(blocks=(block,), file_type="pdf")
    chunks = split(document)
    assert len(chunks) > 3
    for chunk in chunks:
        shown = document.text[chunk.place.start : chunk.place.end].split("\n")
        numbers = [int(line.split()[1]) for line in shown]
        assert chunk.place.boxes == tuple(block.place.boxes[number] for number in numbers)


def test_pages_are_those_of_the_lines_covered(split: Split) -> None:
    chunks = split([lined(60, first_page=4, lines_on_page=30)])
    assert (chunks[0].place.page, chunks[0].place.page_end) == (4, 4)
    assert (chunks[-1].place.page, chunks[-1].place.page_end) == (5, 5)


def test_without_a_box_for_each_line_all_are_given(split: Split) -> None:
    boxes = (box(0), box(1), box(2, page=2))
    text = "Предложение о сроках возмещения расходов. " * 30
    place = Place(page=1, page_end=2, boxes=boxes)
    chunks = split([Block(kind=BlockKind.PARAGRAPH, text=text.strip(), place=place)])
    assert len(chunks) > 2
    assert {(chunk.place.boxes, chunk.place.page, chunk.place.page_end) for chunk in chunks} == {(boxes, 1, 2)}


def test_a_chunk_of_several_blocks_has_the_boxes_and_pages_of_all(split: Split) -> None:
    blocks = [
        Block(kind=BlockKind.PARAGRAPH, text=f"Абзац {page}.", place=Place(page=page, boxes=(box(0, page),)))
        for page in (3, 4)
    ]
    (chunk,) = split(blocks)
    assert (chunk.place.page, chunk.place.page_end) == (3, 4)
    assert chunk.place.boxes == (box(0, 3), box(0, 4))


def test_place_counts_blank_blocks_and_overlap(split: Split) -> None:
    blank = Block(kind=BlockKind.PARAGRAPH, text=" \n ")
    text = Block(kind=BlockKind.PARAGRAPH, text="Краткое правило. " * 60)
    document = ParsedDocument(blocks=(blank, text, blank, text), file_type="txt")
    chunks = split(document)
    assert [document.text[chunk.place.start : chunk.place.end] for chunk in chunks] == [c.content for c in chunks]
    assert any(one.place.end > two.place.start for one, two in pairwise(chunks))


def test_what_a_chunk_takes_from_its_document(split: Split) -> None:
    (chunk,) = split("Текст.")
    assert (chunk.base_id, chunk.tenant_id, chunk.document_id, chunk.tag_ids) == (
        "base-1",
        "tenant-1",
        "doc-1",
        ("tag-1",),
    )


@pytest.mark.parametrize(
    ("text", "overlap"),
    [
        ("Первое правило о сроке. " * 40, "Первое правило о сроке."),
        ("第一条规定报销期限。" * 80, "第一条规定报销期限。"),
    ],
)
def test_overlap_is_whole_sentences(split: Split, text: str, overlap: str) -> None:
    chunks = split(text)
    assert len(chunks) > 1
    assert all(chunk.content.startswith(overlap) for chunk in chunks)


def test_overlap_of_long_sentences_starts_at_a_clause_or_word(split: Split) -> None:
    sentence = "Работник, направленный в поездку, " + "получает возмещение расходов " * 5 + "в полном объёме. "
    document = ParsedDocument(blocks=(Block(kind=BlockKind.PARAGRAPH, text=sentence * 12),), file_type="txt")
    chunks = split(document)
    for one, two in pairwise(chunks):
        assert 0 < one.place.end - two.place.start <= 80
        assert not document.text[two.place.start - 1].isalnum()
