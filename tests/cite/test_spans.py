"""Where the supporting text stands in its document, and on which lines of a page."""

import pytest

from opora.cite.spans import lines_of, place_of, span_in
from opora.domain.knowledge import Box, Place

TEXT = "Начало. Срок три дня. Конец.\n\nСрок три дня. Ещё раз."


def test_by_the_passages_own_place() -> None:
    place = Place(start=8, end=21)
    content = TEXT[8:21]
    assert span_in(TEXT, content, place, 0, 4) == (8, 12)


@pytest.mark.parametrize(("start", "expected"), [(0, 8), (30, 30)])
def test_a_place_that_no_longer_fits_is_left_for_the_nearest_such_words(start: int, expected: int) -> None:
    content = "Шапка таблицы\nСрок три дня."
    found = span_in(TEXT, content, Place(start=start, end=start + 5), 14, 27)
    assert found == (expected, expected + 13)


def test_other_blanks_are_no_hindrance_and_other_words_are() -> None:
    place = Place(start=8, end=20)
    assert span_in(TEXT, "Срок\nтри дня.", place, 0, 13) == (8, 20)
    assert span_in(TEXT, "Срок пять дней.", place, 0, 15) is None


def box(line: int, width: float = 100.0) -> Box:
    return Box(page=1 + line // 3, x0=10, y0=line * 10, x1=10 + width, y1=line * 10 + 8)


def test_the_lines_that_hold_a_part() -> None:
    lines = [box(line) for line in range(4)]
    assert lines_of(lines, 0.0, 0.25) == (lines[0],)
    assert lines_of(lines, 0.3, 0.7) == (lines[1], lines[2])
    assert lines_of(lines, 0.0, 1.0) == tuple(lines)
    assert lines_of([], 0.0, 1.0) == ()
    assert lines_of([box(0, 0.0)], 0.0, 1.0) == (box(0, 0.0),)


def test_the_place_of_a_part_has_its_own_pages() -> None:
    lines = tuple(box(line) for line in range(4))
    whole = Place(start=100, end=200, page=1, page_end=2, boxes=lines, heading_path=("Отпуск",))
    part = place_of(whole, "x" * 100, (180, 200), 80, 100)
    assert (part.start, part.end, part.page, part.page_end) == (180, 200, 2, 2)
    assert (part.boxes, part.heading_path) == (lines[3:], ("Отпуск",))
