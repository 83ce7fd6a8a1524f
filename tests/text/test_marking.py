"""Words of a question are found in a text in whatever form they stand there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opora.text.marking import marks


@pytest.mark.parametrize(
    ("text", "question", "marked"),
    [
        ("Расходы на проезд возмещают.", "Возмещаете ли проезда?", ["проезд", "возмещают"]),
        ("Ещё раз о расчёте", "расчет", ["расчёте"]),
        ("Билет и чек в отчёте", "и билеты", ["Билет"]),
        ("员工手册：报销制度", "报销", ["报销"]),
        ("员工手册", "手", ["手"]),
        ("校准实验室守则", "实验室", ["实验室"]),
        ("Ошибка KB-1234 устранена", "KB-1234", ["KB", "1234"]),
        ("The employees’ handbook", "employee", ["employees"]),
        ("Ничего похожего", "билет", []),
        ("текст", "", []),
        ("<b>билет</b>", "билеты", ["билет"]),
    ],
)
def test_words_are_marked_in_their_forms(text: str, question: str, marked: list[str]) -> None:
    assert [text[start:end] for start, end in marks(text, question)] == marked


@given(st.text(), st.text())
def test_marks_are_in_order_apart_and_inside_the_text(text: str, question: str) -> None:
    at = -1
    for start, end in marks(text, question):
        assert at < start < end <= len(text)
        at = end
