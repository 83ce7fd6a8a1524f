"""Children and what stands around them."""

from __future__ import annotations

import json

from opora.domain.knowledge import Box, ChunkType, Place
from opora.merge.merge import merge

PARENT = "Начало раздела. Компания возмещает проезд. Конец раздела." + " Дальше." * 40
CHILD = "Компания возмещает проезд."


async def test_a_child_shows_its_parent_and_stays_itself(read, result_of, chunk_of) -> None:
    read.add(chunk_of("par", PARENT, chunk_type=ChunkType.PARENT_TEXT, place=Place(start=100, end=100 + len(PARENT))))
    place = Place(start=116, end=142, page=3, page_end=3, boxes=(Box(page=3, x0=0, y0=0, x1=1, y1=1),))
    hit = result_of("c", CHILD, 0.8, parent_chunk_id="par", place=place)
    (one,) = (await merge([hit], [], query="q", read=read)).results
    assert (one.chunk_id, one.score, one.content) == ("c", 0.8, PARENT)
    assert (one.place.start, one.place.end, one.place.page, one.place.boxes) == (100, 100 + len(PARENT), 3, place.boxes)


async def test_children_of_one_parent_become_one(read, result_of, chunk_of) -> None:
    read.add(chunk_of("par", PARENT, chunk_type=ChunkType.PARENT_TEXT))
    hits = [
        result_of("c", CHILD, 0.8, chunk_index=1, parent_chunk_id="par"),
        result_of("d", "Конец раздела.", 0.9, chunk_index=2, parent_chunk_id="par"),
    ]
    (one,) = (await merge(hits, [], query="q", read=read)).results
    assert (one.chunk_id, one.score, one.content, one.sub_chunk_ids) == ("d", 0.9, PARENT, ("c",))


async def test_an_edited_child_is_not_lost_in_its_parent(read, result_of, chunk_of) -> None:
    read.add(chunk_of("par", PARENT, chunk_type=ChunkType.PARENT_TEXT))
    (one,) = (await merge([result_of("c", "Правка от руки.", parent_chunk_id="par")], [], query="q", read=read)).results
    assert one.content.startswith("Правка от руки.")
    assert PARENT in one.content


async def test_a_table_row_under_its_repeated_head_is_found_in_the_parent(read, result_of, chunk_of) -> None:
    table = "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"
    read.add(chunk_of("par", table, chunk_type=ChunkType.PARENT_TEXT))
    child = result_of("c", "| a | b |\n| --- | --- |\n| 3 | 4 |", parent_chunk_id="par")
    (one,) = (await merge([child], [], query="q", read=read)).results
    assert one.content == table


async def test_a_parent_of_another_document_or_type_is_none(read, result_of, chunk_of) -> None:
    read.add(chunk_of("p", PARENT, chunk_type=ChunkType.PARENT_TEXT, document_id="x"), chunk_of("t", PARENT))
    hits = [
        result_of("a", CHILD * 20, parent_chunk_id="p"),
        result_of("b", "х" * 400, chunk_index=5, parent_chunk_id="t"),
    ]
    found = (await merge(hits, [], query="q", read=read)).results
    assert {r.content for r in found} == {CHILD * 20, "х" * 400}


async def test_an_image_reaches_for_the_parent_of_its_text_and_keeps_its_own_words(read, result_of, chunk_of) -> None:
    text = "До ![мой](/mine.png) и ![чужой](/other.png) после." + " Текст." * 60
    read.add(chunk_of("t", "До", parent_chunk_id="par"), chunk_of("par", text, chunk_type=ChunkType.PARENT_TEXT))
    info = json.dumps([{"url": "/mine.png", "caption": "схема проезда"}])
    hit = result_of("i", "схема проезда", chunk_type=ChunkType.IMAGE_CAPTION, parent_chunk_id="t", image_info=info)
    (one,) = (await merge([hit], [], query="q", read=read)).results
    assert read.batches == [{"t"}, {"par"}]
    assert "/mine.png" in one.content
    assert "/other.png" not in one.content
    assert one.content.startswith("схема проезда")
    assert one.image_info == info


async def test_without_image_hits_there_is_no_second_read(read, result_of, chunk_of) -> None:
    read.add(chunk_of("par", PARENT, chunk_type=ChunkType.PARENT_TEXT, parent_chunk_id="grand"))
    await merge([result_of("c", CHILD, parent_chunk_id="par")], [], query="q", read=read)
    assert read.batches == [{"par"}]
