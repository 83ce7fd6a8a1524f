"""Reads numbers written in words, in Russian, English and Chinese: 'двадцать восемь', 'twenty-eight', '二十八天'."""

from __future__ import annotations

import re
from collections.abc import Iterator

_RUSSIAN = {
    1: "один одна одно одного одной одному одним одну",
    2: "два две двух двум двумя",
    3: "три трех трем тремя",
    4: "четыре четырех четырем четырьмя",
    5: "пять пяти пятью",
    6: "шесть шести шестью",
    7: "семь семи семью",
    8: "восемь восьми восемью",
    9: "девять девяти девятью",
    40: "сорок сорока",
    90: "девяносто девяноста",
    100: "сто ста",
    200: "двести двухсот двумстам",
    300: "триста трехсот тремстам",
    400: "четыреста четырехсот четыремстам",
    1_000: "тысяча тысячи тысяч тысячу тысяче тысячам",
    1_000_000: "миллион миллиона миллионов миллионам",
    1_000_000_000: "миллиард миллиарда миллиардов миллиардам",
}
_RUSSIAN_STEMS = {
    10: "десят", 11: "одиннадцат", 12: "двенадцат", 13: "тринадцат", 14: "четырнадцат", 15: "пятнадцат",
    16: "шестнадцат", 17: "семнадцат", 18: "восемнадцат", 19: "девятнадцат", 20: "двадцат", 30: "тридцат",
}  # fmt: skip
_RUSSIAN_COMPOUNDS = {5: ("пять", "пяти"), 6: ("шесть", "шести"), 7: ("семь", "семи"), 8: ("восемь", "восьми")}
_ENGLISH = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_ENGLISH_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ENGLISH_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}


def _lexicon() -> dict[str, int]:
    words = {word: value for value, forms in _RUSSIAN.items() for word in forms.split()}
    words |= {stem + ending: value for value, stem in _RUSSIAN_STEMS.items() for ending in ("ь", "и", "ью")}
    for digit, (whole, bent) in _RUSSIAN_COMPOUNDS.items():
        words |= {f"{whole}десят": digit * 10, f"{bent}десяти": digit * 10}
        words |= {f"{whole}сот": digit * 100, f"{bent}сот": digit * 100}
    words |= {"девятьсот": 900, "девятисот": 900}
    words |= {word: value for value, word in enumerate(_ENGLISH.split(), start=1)}
    words |= {word: 20 + 10 * step for step, word in enumerate(_ENGLISH_TENS.split())}
    return words | _ENGLISH_SCALES


_WORDS = _lexicon()
_HUNDRED = 100
_WORD = re.compile(r"[^\W\d_]+|\S")
_HAN_DIGITS = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_HAN_SCALES = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "亿": 100_000_000}
_HAN = re.compile(
    r"(?<!第)([零〇一二两三四五六七八九十百千万亿]+)(?=天|日|年|个|月|小时|元|次|名|周|岁|倍|分|秒|人|页|条|级)"
)


def number_words(text: str) -> Iterator[int]:
    """The numbers that stand in the text in words, in lower case; a lone 'one' is mostly no number and is left out."""
    current: list[int] = []
    for word in _WORD.findall(text):
        value = _WORDS.get(word)
        if value is not None and (not current or _continues(current[-1], value)):
            current.append(value)
            continue
        if current and word in ("-", "and"):
            continue
        yield from _value(current)
        current = [] if value is None else [value]
    yield from _value(current)
    for run in _HAN.findall(text):
        yield _han_value(run)


def _continues(before: int, value: int) -> bool:
    """Numbers are said from great to small; what multiplies comes behind what it multiplies."""
    is_scale = value >= 1_000 or value == _HUNDRED
    if is_scale:
        return before < value
    return before > value and (before >= _HUNDRED or (before >= 20 and before % 10 == 0 and value < 10))


def _value(parts: list[int]) -> Iterator[int]:
    if not parts or parts == [1]:
        return
    total, group = 0, 0
    for part in parts:
        if part >= 1_000:
            total, group = total + max(1, group) * part, 0
        elif part == _HUNDRED and 0 < group < 10:
            group *= _HUNDRED
        else:
            group += part
    yield total + group


def _han_value(run: str) -> int:
    if all(sign in _HAN_DIGITS for sign in run):
        return int("".join(str(_HAN_DIGITS[sign]) for sign in run))
    total, group, digit = 0, 0, 0
    for sign in run:
        scale = _HAN_SCALES.get(sign)
        if scale is None:
            digit = _HAN_DIGITS[sign]
        elif scale >= 10_000:
            total, group, digit = total + max(1, group + digit) * scale, 0, 0
        else:
            group, digit = group + max(1, digit) * scale, 0
    return total + group + digit
