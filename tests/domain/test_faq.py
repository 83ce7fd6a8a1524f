"""Entries that stay silent on a question."""

from __future__ import annotations

from typing import Any

import pytest

from opora.domain.faq import is_silenced

ENTRY = {"standard_question": "Как вернуть товар?", "negative_questions": ["Как вернуть товар по гарантии?", "  "]}


@pytest.mark.parametrize(
    ("query", "silent"),
    [
        ("Как вернуть товар по гарантии?", True),
        ("  КАК  ВЕРНУТЬ\tТОВАР ПО ГАРАНТИИ?  ", True),
        ("Как вернуть товар по гарантии? Срочно", False),
        ("Как вернуть товар?", False),
        ("", False),
        ("   ", False),
    ],
)
def test_only_the_whole_question_silences(query: str, silent: bool) -> None:
    assert is_silenced(ENTRY, query) is silent


@pytest.mark.parametrize(
    "metadata", [{"negative_questions": 7}, {"negative_questions": [1]}, {"standard_question": None}]
)
def test_an_entry_that_cannot_be_read_is_never_returned_unchecked(metadata: dict[str, Any]) -> None:
    assert is_silenced(metadata, "вопрос")


def test_an_entry_without_negative_questions_speaks() -> None:
    assert not is_silenced({}, "вопрос")


def test_any_wording_of_the_question_silences() -> None:
    assert is_silenced(ENTRY, "возврат по гарантии", "Как вернуть товар по гарантии?")
    assert is_silenced(ENTRY, "Как вернуть товар по гарантии?", "")
    assert not is_silenced(ENTRY, "возврат по гарантии", "")
