"""Text from documents can't steer the terminal, and columns line up in every script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opora.cli.words import cell, plain, width


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words", "plain words"),
        ("два слова\n\tи ещё", "два слова\n\tи ещё"),
        ("\x1b[31mred\x1b]0;title\x07", "\ufffd[31mred\ufffd]0;title\ufffd"),
        ("back\r\x08space\x7f\x9b", "back\ufffd\ufffdspace\ufffd\ufffd"),
        ("abc\u202egnp.exe", "abc\ufffdgnp.exe"),
        ("lone \ud800 half", "lone \ufffd half"),
        ("👩\u200d🔬 family", "👩\u200d🔬 family"),
    ],
)
def test_control_characters_are_shown_and_not_obeyed(text: str, shown: str) -> None:
    assert plain(text) == shown


@given(st.text())
def test_what_is_shown_can_always_be_written_and_holds_no_control_character(text: str) -> None:
    shown = plain(text)
    assert len(shown) == len(text)
    shown.encode("utf-8")
    assert not any(char < " " and char not in "\n\t" for char in shown)
    assert plain(shown) == shown


@pytest.mark.parametrize(("text", "columns"), [("abc", 3), ("абв", 3), ("员工", 4), ("е\u0301", 1), ("", 0)])
def test_width_counts_columns(text: str, columns: int) -> None:
    assert width(text) == columns


@given(st.text(alphabet="aя员\u0301 ", max_size=40), st.integers(2, 20))
def test_a_cell_takes_exactly_its_columns(text: str, columns: int) -> None:
    made = cell(text, columns)
    assert width(made) == columns
    assert ("…" in made) == (width(text) > columns)
