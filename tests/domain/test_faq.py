"""Entries that stay silent on a question."""

from __future__ import annotations

from typing import Any

import pytest

from opora.domain.faq import answer_span, is_silenced

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


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        ("Q: When?\nAnswer: Now.", "Now."),
        ("Q: When?\nAnswer:\n- Now.\n- Later.", "- Now.\n- Later."),
        ("Q: When?\nAnswer: Answer:\nAnswer: yes", "Answer:\nAnswer: yes"),
        ("Q: When?\nAnswer: ", None),
        ("A text that is no entry.", None),
    ],
)
def test_the_answer_stands_behind_its_mark(content: str, answer: str | None) -> None:
    span = answer_span(content)
    assert (None if span is None else content[span[0] : span[1]]) == answer
