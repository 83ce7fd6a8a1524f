"""Passages without marks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.rank.clean import clean_passage


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("```python\nx = 1\n```", "x = 1"),
        ("~~~\nx = 1\n~~~", "x = 1"),
        ("до\n$$\nE = mc^2\n$$\nпосле", "до\nE = mc^2\nпосле"),
        ("<b>жирный</b> и <br/> текст", "жирный и  текст"),
        ("![схема](http://x/y.png) подпись", "подпись"),
        ("см. [правила](https://x.org/a?b=c) тут", "см. правила тут"),
        ("адрес https://x.org/a?b=c конец", "адрес  конец"),
        ("| Город | Сумма |\n| --- | ---: |\n| Казань | 700 |", "Город, Сумма\nКазань, 700"),
        ("## Заголовок\n> цитата\n- пункт\n* пункт\n1. пункт", "Заголовок\nцитата\nпункт\nпункт\nпункт"),
        ("**важно** и __очень__", "важно и очень"),
        ("a\n\n\n \n\nb", "a\n\nb"),
        ("5 < 7 и 9 > 3", "5 < 7 и 9 > 3"),
        ("ставка 5 * 3 * 2", "ставка 5 * 3 * 2"),
        ("", ""),
    ],
)
def test_marks_go_and_words_stay(text: str, cleaned: str) -> None:
    assert clean_passage(text) == cleaned


def test_a_passage_of_code_alone_is_not_cleaned_to_nothing() -> None:
    assert clean_passage("```\nSELECT 1;\n```\n\n```\nSELECT 2;\n```") == "SELECT 1;\n\nSELECT 2;"


@settings(max_examples=80)
@given(st.text(alphabet="ab |-`$<>[]()!#*_\n>0.", max_size=80))
def test_it_takes_any_text(text: str) -> None:
    assert len(clean_passage(text)) <= len(text) + text.count("|")
