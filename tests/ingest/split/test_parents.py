from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from opora.domain.knowledge import Block, BlockKind, Chunk, ChunkType, ParsedDocument, Place

Split = Callable[..., list[Chunk]]


def book(sections: int, sentences: int) -> ParsedDocument:
    blocks: list[Block] = []
    for number in range(sections):
        blocks.append(Block(kind=BlockKind.HEADING, text=f"## Раздел {number}", level=2))
        text = " ".join(f"Правило {number}.{part} задаёт срок и порядок его соблюдения." for part in range(sentences))
        blocks.append(Block(kind=BlockKind.PARAGRAPH, text=text))
    return ParsedDocument(blocks=tuple(blocks), file_type="md")


def family(chunks: list[Chunk]) -> list[tuple[Chunk, list[Chunk]]]:
    found: list[tuple[Chunk, list[Chunk]]] = []
    for chunk in chunks:
        if chunk.chunk_type is ChunkType.PARENT_TEXT:
            found.append((chunk, []))
        else:
            found[-1][1].append(chunk)
    return found


def test_sizes_of_parents_and_children(split: Split) -> None:
    for document in (book(1, 300), book(40, 10)):
        for parent, children in family(split(document, parent_child=True)):
            assert 0 < len(parent.content) <= 4096
            assert children
            assert all(0 < len(child.content) <= 384 for child in children)
            assert all(child.parent_chunk_id == parent.chunk_id for child in children)


def test_a_parent_holds_all_of_its_children(split: Split) -> None:
    document = book(30, 12)
    for parent, children in family(split(document, parent_child=True)):
        assert document.text[parent.place.start : parent.place.end] == parent.content
        assert all(child.content in parent.content for child in children)
        assert (children[0].place.start, children[-1].place.end) == (parent.place.start, parent.place.end)


def test_short_sections_share_a_parent(split: Split) -> None:
    families = family(split(book(40, 3), parent_child=True))
    assert len(families) < 8
    assert sum(len(parent.content) for parent, _ in families) / len(families) > 0.4 * 4096


def test_parents_are_not_linked_nor_searched_and_overlap_stays_inside(split: Split) -> None:
    families = family(split(book(2, 200), parent_child=True))
    for parent, children in families:
        assert (parent.pre_chunk_id, parent.next_chunk_id, parent.parent_chunk_id) == ("", "", "")
        assert not parent.is_searched
        assert all(child.place.start >= parent.place.start for child in children)
        gaps = [one.place.end - two.place.start for one, two in pairwise(children)]
        assert all(gap <= 76 for gap in gaps)


def test_highest_headings_part_parents_first(split: Split) -> None:
    blocks = list(book(6, 14).blocks)
    blocks[6:6] = [Block(kind=BlockKind.HEADING, text="# Глава вторая", level=1)]
    chunks = split(blocks, parent_child=True)
    assert any(parent.content.startswith("# Глава вторая") for parent, _ in family(chunks))


def test_a_parent_of_two_sheets_names_neither(split: Split) -> None:
    blocks = [
        Block(
            kind=BlockKind.TABLE,
            text=f"a | b\n{sheet} | 1",
            head="a | b",
            rows=(f"{sheet} | 1",),
            place=Place(sheet=sheet, row=2, row_end=2),
        )
        for sheet in ("Январь", "Февраль")
    ]
    ((parent, children),) = family(split(blocks, parent_child=True))
    assert (parent.place.sheet, parent.place.row, parent.context) == ("", None, "")
    assert [(child.context, child.place.sheet, child.place.row) for child in children] == [
        ("Январь", "Январь", 2),
        ("Февраль", "Февраль", 2),
    ]


def test_a_long_table_repeats_its_head_in_parents_and_children(split: Split) -> None:
    rows = tuple(f"город {number} | {number}" for number in range(600))
    block = Block(kind=BlockKind.TABLE, text="\n".join(("a | b", *rows)), head="a | b", rows=rows)
    families = family(split([block], parent_child=True))
    assert len(families) > 1
    for parent, children in families:
        assert all(chunk.content.startswith("a | b\n") for chunk in (parent, *children))
    assert tuple(
        row for _, children in families for child in children for row in child.content.split("\n")[1:]
    ) == rows  # fmt: skip
