"""Short passages and the texts beside them."""

from __future__ import annotations

import pytest

from opora.domain.knowledge import ChunkType, Place
from opora.merge import neighbours, reading
from opora.merge.merge import merge
from opora.merge.neighbours import shares


def test_the_described_numbers() -> None:
    assert (reading.SHORT_CONTEXT, neighbours.EXPANDED_CONTEXT) == (350, 850)


@pytest.mark.parametrize(
    ("before", "after", "room", "given"),
    [
        (1000, 1000, 800, (400, 400)),
        (100, 1000, 800, (100, 700)),
        (1000, 100, 800, (700, 100)),
        (0, 0, 800, (0, 0)),
        (10, 20, 800, (10, 20)),
        (1000, 1000, 801, (400, 401)),
    ],
)
def test_what_one_side_lacks_goes_to_the_other(before: int, after: int, room: int, given: tuple[int, int]) -> None:
    assert shares(before, after, room) == given


@pytest.mark.parametrize(("length", "widened"), [(349, True), (350, False)])
async def test_only_under_350_characters(read, result_of, chunk_of, length: int, widened: bool) -> None:
    read.add(chunk_of("n", "после " * 100))
    (one,) = (await merge([result_of("h", "х" * length, next_chunk_id="n")], [], query="q", read=read)).results
    assert (len(one.content) > length) is widened


async def test_words_are_not_split_and_places_follow_the_text(read, result_of, chunk_of, place_of) -> None:
    text = "".join(f"слово{n:03} " for n in range(300)).strip()
    spans = [(0, 999), (1000, 1099), (1100, 2099)]
    parts = [text[a:b] for a, b in spans]
    read.add(
        chunk_of("p", parts[0], place=place_of(0, parts[0])), chunk_of("n", parts[2], place=place_of(1100, parts[2]))
    )
    hit = result_of("h", parts[1], pre_chunk_id="p", next_chunk_id="n", place=place_of(1000, parts[1]))
    (one,) = (await merge([hit], [], query="q", read=read)).results
    assert 700 <= len(one.content) <= 850
    assert one.content.split()[0] in text.split()
    assert one.content.split()[-1] in text.split()
    assert parts[1] in one.content
    assert one.place.end - one.place.start == len(one.content)


async def test_an_overlap_with_a_neighbour_is_not_said_twice(read, result_of, chunk_of, place_of) -> None:
    text = "Первое предложение стоит здесь. Второе предложение стоит потом. Третье предложение завершает."
    a, b = text[:63], text[32:]
    read.add(chunk_of("p", a, place=place_of(0, a)))
    hit = result_of("h", b, pre_chunk_id="p", place=place_of(32, b))
    (one,) = (await merge([hit], [], query="q", read=read)).results
    assert one.content == text
    assert (one.place.start, one.place.end) == (0, len(text))


async def test_an_edited_neighbour_leaves_the_place_alone(read, result_of, chunk_of) -> None:
    read.add(chunk_of("p", "правленый сосед", place=Place(start=0, end=4)))
    hit = result_of("h", "текст", pre_chunk_id="p", place=Place(start=5, end=10))
    (one,) = (await merge([hit], [], query="q", read=read)).results
    assert one.content.startswith("правленый сосед")
    assert one.place == hit.place


@pytest.mark.parametrize("kind", [ChunkType.FAQ, ChunkType.TABLE_SUMMARY, ChunkType.WEB_SEARCH])
async def test_only_text_is_widened(read, result_of, chunk_of, kind: ChunkType) -> None:
    read.add(chunk_of("n", "после " * 100))
    (one,) = (
        await merge([result_of("h", "коротко", next_chunk_id="n", chunk_type=kind)], [], query="q", read=read)
    ).results
    assert one.content == "коротко"
