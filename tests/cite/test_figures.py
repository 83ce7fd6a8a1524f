"""Numbers are the same however they are written, and another number is another."""

import pytest

from opora.cite.figures import figures, missing
from opora.cite.number_words import number_words


@pytest.mark.parametrize(
    ("statement", "source"),
    [
        ("1 000 рублей", "1000 руб."),
        ("1 000 рублей", "до 1 000 ₽"),
        ("1,000 euro", "1000 euro"),
        ("12'500", "12500"),
        ("3,5 %", "3.5%"),
        ("5.0 часов", "5 часов"),
        ("3-5 дней", "от 3 до 5 дней"),
        ("2024–2026", "с 2024 по 2026 год"),
        ("05.03.2026", "5.3.2026"),
        ("KB-1234", "по форме KB-1234"),
        ("28-дневный срок", "28 дней"),
        ("в 12:30", "к 12:30"),
        ("５天", "5天"),
        ("28 дней", "двадцать восемь календарных дней"),
        ("двадцати восьми дней", "28 дней"),
        ("двадцать восемь", "Двадцати восьми"),
        ("twenty-eight days", "28 days"),
        ("1 200 000", "один миллион двести тысяч"),
        ("three hundred and five", "305"),
        ("二十八天", "28天"),
        ("一万二千元", "12000元"),
        ("один из способов", ""),
        ("第三天, 一些", ""),
        ("без чисел", ""),
    ],
)
def test_the_same_figures(statement: str, source: str) -> None:
    assert missing(statement, source) == []


@pytest.mark.parametrize(
    ("statement", "source"),
    [
        ("30 дней", "28 дней"),
        ("5 дней", "15 дней"),
        ("1000", "100"),
        ("3,5", "35"),
        ("0,500", "500"),
        ("12:30", "12:45"),
        ("3-5 дней", "от 3 до 7 дней"),
        ("3.5", "3-5"),
        ("KB1234", "KB1235"),
        ("тридцать дней", "двадцать восемь дней"),
        ("двадцать дней", "двадцать восемь дней"),
        ("thirty days", "28 days"),
        ("三十天", "二十八天"),
    ],
)
def test_other_figures(statement: str, source: str) -> None:
    assert len(missing(statement, source)) == 1


def test_figures_come_in_the_order_of_the_text() -> None:
    assert [sorted(forms)[0] for forms in figures("в 2026 году 1 500 и 7,50")] == ["2026", "1500", "7.5"]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("пять, шесть", [5, 6]),
        ("сто двадцать один", [121]),
        ("две тысячи двадцать шесть", [2026]),
        ("пятьсот пятьдесят пять", [555]),
        ("двадцать двадцать", [20, 20]),
        ("two thousand and six", [2006]),
        ("nineteen ninety", [19, 90]),
        ("тысяча", [1000]),
        ("один", []),
        ("二〇二六年", [2026]),
        ("十天", [10]),
    ],
)
def test_numbers_in_words(text: str, numbers: list[int]) -> None:
    assert list(number_words(text)) == numbers
