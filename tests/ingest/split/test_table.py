from __future__ import annotations

from collections.abc import Callable

from opora.domain.knowledge import Block, BlockKind, Chunk, ParsedDocument, Place

Split = Callable[..., list[Chunk]]
HEAD = "Город | Суточные"


def table(count: int, *, head: str = HEAD, row: int | None = 2, sheet: str = "", text: str = "город") -> Block:
    rows = tuple(f"{text} {number} | {number * 100}" for number in range(count))
    place = Place(sheet=sheet, row=row, row_end=row + count - 1 if row is not None else None)
    lines = [head, *rows] if head else list(rows)
    return Block(kind=BlockKind.TABLE, text="\n".join(lines), head=head, rows=rows, place=place)


def body(chunk: Chunk) -> list[str]:
    return [line for line in chunk.content.split("\n") if line != HEAD]


def test_each_piece_repeats_the_head_and_says_its_rows(split: Split) -> None:
    block = table(100, sheet="Лист 1")
    chunks = split([block])
    assert len(chunks) > 3
    assert all(chunk.content.startswith(f"{HEAD}\n") and len(chunk.content) <= 512 for chunk in chunks)
    assert tuple(row for chunk in chunks for row in body(chunk)) == block.rows
    for chunk in chunks:
        assert (chunk.place.sheet, chunk.context) == ("Лист 1", "Лист 1")
        assert chunk.place.row is not None
        assert chunk.place.row_end is not None
        assert body(chunk) == list(block.rows[chunk.place.row - 2 : chunk.place.row_end - 1])


def test_the_place_shows_the_rows_of_a_piece(split: Split) -> None:
    document = ParsedDocument(blocks=(table(100),), file_type="csv")
    for chunk in split(document):
        assert document.text[chunk.place.start : chunk.place.end].removeprefix(f"{HEAD}\n").split("\n") == body(chunk)


def test_rows_without_numbers_have_none(split: Split) -> None:
    assert {(chunk.place.row, chunk.place.row_end) for chunk in split([table(100, row=None)])} == {(None, None)}


def test_a_table_without_head_is_cut_between_rows(split: Split) -> None:
    block = table(100, head="")
    assert tuple(row for chunk in split([block]) for row in chunk.content.split("\n")) == block.rows


def test_a_heading_directly_over_a_table_stands_in_its_first_piece(split: Split) -> None:
    heading = Block(kind=BlockKind.HEADING, text="# Нормы", level=1)
    chunks = split([heading, table(100)])
    assert chunks[0].content.startswith(f"# Нормы\n\n{HEAD}\n")
    assert [chunk.context for chunk in chunks[:3]] == ["", "Нормы", "Нормы"]
    assert chunks[1].content.startswith(f"{HEAD}\n")


def test_text_around_a_table_does_not_overlap_with_it(split: Split) -> None:
    before, after = "Текст до таблицы. Ещё слова.", "Текст после таблицы. И ещё."
    blocks = [Block(kind=BlockKind.PARAGRAPH, text=text) for text in (before, after)]
    chunks = split([blocks[0], table(3), blocks[1]])
    assert [chunk.content for chunk in chunks] == [before, table(3).text, after]


def test_a_row_longer_than_a_chunk_is_cut_as_text_under_its_head(split: Split) -> None:
    rows = ("a | 1", "b | " + "Длинное предложение о нормах. " * 60, "c | 3")
    block = Block(
        kind=BlockKind.TABLE, text="\n".join((HEAD, *rows)), head=HEAD, rows=rows, place=Place(row=2, row_end=4)
    )
    chunks = split([block])
    assert all(chunk.content.startswith(f"{HEAD}\n") and len(chunk.content) <= 512 for chunk in chunks)
    assert {chunk.place.row for chunk in chunks if "Длинное" in chunk.content} <= {2, 3}
    joined = "".join("".join(body(chunk)) for chunk in chunks)
    assert joined.replace(" ", "") == "".join(rows).replace(" ", "")


def test_a_head_too_long_to_repeat_is_shortened_but_never_lost(split: Split) -> None:
    head = " | ".join(f"столбец {number}" for number in range(100))
    block = table(50, head=head)
    chunks = split([block])
    assert all(len(chunk.content) <= 512 for chunk in chunks)
    assert all(f"столбец {number}" in "\n".join(c.content for c in chunks) for number in range(100))
    assert all(chunk.content.startswith("столбец 0 | ") for chunk in chunks)
    assert all(any(row in chunk.content for chunk in chunks) for row in block.rows)


def test_equal_rows_get_ids_of_their_own(split: Split) -> None:
    rows = ("a | 1",) * 400
    block = Block(kind=BlockKind.TABLE, text="\n".join((HEAD, *rows)), head=HEAD, rows=rows)
    chunks = split([block])
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks) > 5
