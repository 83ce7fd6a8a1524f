"""Plain text: paragraphs, none lost, few blocks for large files."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.ingest.limits import ParseLimits
from opora.ingest.parse import txt

LIMITS = ParseLimits()


def texts_of(text: str) -> list[str]:
    return [block.text for block in txt.parse(text.encode(), "a.txt", LIMITS).blocks]


@pytest.mark.parametrize(
    ("text", "paragraphs"),
    [
        ("один\nдва\n\nтри\n", ["один\nдва", "три"]),
        ("один\r\n\r\nдва", ["один", "два"]),
        ("один\n \t\n\n\nдва\n\n\n", ["один", "два"]),
        ("  отступ\n\n    код", ["  отступ", "    код"]),
    ],
)
def test_blank_lines_part_paragraphs(text: str, paragraphs: list[str]) -> None:
    assert [piece.strip() for piece in texts_of(text)] == [piece.strip() for piece in paragraphs]


def test_the_encoding_is_in_the_metadata() -> None:
    parsed = txt.parse("Приказ о командировках".encode("cp1251"), "a.txt", LIMITS)
    assert parsed.metadata["encoding"] == "cp1251"


def test_a_long_paragraph_of_lines_is_cut_at_line_ends_only() -> None:
    lines = [f"строка номер {number}" for number in range(3_000)]
    pieces = texts_of("\n".join(lines))
    assert "\n".join(pieces).split("\n") == lines
    assert max(map(len, pieces)) < txt.LINE_CUT_FROM


def test_a_long_line_is_left_to_the_splitter() -> None:
    line = "слово " * 50_000
    assert texts_of(line) == [line.strip()]


def test_cuts_of_large_texts_outlive_an_edit() -> None:
    paragraphs = [f"Абзац {number} о возмещении расходов на проезд." for number in range(50_000)]
    before = set(texts_of("\n\n".join(paragraphs)))
    after = set(texts_of("\n\n".join(["Новый первый абзац.", *paragraphs])))
    assert len(before) < 10_000
    assert len(after - before) <= 3


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="аб \n\t", max_size=200))
def test_no_word_is_lost(text: str) -> None:
    assert "".join("".join(texts_of(text)).split()) == "".join(text.split())
