from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.text.sentences import sentence_spans


def sentences(text: str) -> list[str]:
    return [text[begin:end] for begin, end in sentence_spans(text)]


WHOLE = [
    "Это, т. е. рост, шло быстро.",
    "Он живёт в г. Москва.",
    "А. С. Пушкин родился в Москве.",
    "См. рис. 5 и табл. 2.",
    "В 2020 г. Москва росла.",
    "Приказ подписал проф. Иванов И. И. Печать стоит.",
    "Use a tool, e.g. Opora, and Dr. Smith agrees.",
    "J. R. Doe lives at No. 5.",
    "It costs 3.14 dollars, vs. 2.71 before.",
    "On Jan. 5 it began.",
    "«Кто там?» — спросил он.",
    '"Who is there?" he asked.',
    "Version 1.2.3 is out.",
    "А он... ушёл.",
    "1. Первый пункт",
]


@pytest.mark.parametrize("text", WHOLE)
def test_is_one_sentence(text: str) -> None:
    assert sentences(text) == [text]


PARTED = [
    ("Первое. Второе! Третье? Четвёртое… Пятое", ["Первое.", "Второе!", "Третье?", "Четвёртое…", "Пятое"]),
    ("Стол, стул и т. д. Потом мы ушли.", ["Стол, стул и т. д.", "Потом мы ушли."]),
    ("Завод был основан ещё в 1920 г. Потом он закрылся.", ["Завод был основан ещё в 1920 г.", "Потом он закрылся."]),
    ("No. I don't know.", ["No.", "I don't know."]),
    ("We met at 5 p.m. Then we left.", ["We met at 5 p.m.", "Then we left."]),
    ("He said «yes.» Then he left.", ["He said «yes.»", "Then he left."]),
    ("Wait?! Yes.[12] Go (now.) End.", ["Wait?!", "Yes.[12]", "Go (now.)", "End."]),
    ("逾期提交！是否可以？可以；最多五天。", ["逾期提交！", "是否可以？", "可以；", "最多五天。"]),
    ("他说：“好。”然后走了。", ["他说：“好。”", "然后走了。"]),
    ("Версия 3.14。下一句", ["Версия 3.14。", "下一句"]),
    ("Список:\n- первое\n- второе\n2. третье", ["Список:", "- первое", "- второе", "2. третье"]),
    ("без точки\n\nновый абзац", ["без точки", "новый абзац"]),
    ("1. Первый. 2. Второй.", ["1. Первый.", "2. Второй."]),
]


@pytest.mark.parametrize(("text", "expected"), PARTED)
def test_sentences_are_parted(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_blank_text_has_none(text: str) -> None:
    assert sentence_spans(text) == []


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([*"аБe.!?…。；) \n", "г.", " т. ", "5", "— ", "- ", "«", "»"]), max_size=60))
def test_spans_hold_all_but_the_blanks_between_them(parts: list[str]) -> None:
    text = "".join(parts)
    at = 0
    for begin, end in sentence_spans(text):
        assert begin < end
        assert not text[at:begin].strip()
        assert text[begin:end] == text[begin:end].strip()
        at = end
    assert not text[at:].strip()


@pytest.mark.parametrize("text", ["." * 100_000 + "a", ".)" * 50_000, "\n " * 50_000, ". a" * 30_000])
def test_hostile_runs_are_read_in_one_pass(text: str) -> None:
    """Quadratic work on such a run would take minutes."""
    assert "".join(sentences(text)).replace(" ", "").replace("\n", "") == text.replace(" ", "").replace("\n", "")
