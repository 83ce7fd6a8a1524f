"""Ranks the national code pages that bytes may be written in, by how usual the text they give is."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

_CYRILLIC = ("cp1251", "koi8-u", "koi8-r", "cp866", "iso8859-5", "mac-cyrillic")
_ASIAN = ("gb18030", "big5hkscs", "cp932", "euc_jp", "cp949")
_WESTERN = ("cp1252", "cp1250", "cp1253", "cp1254", "iso8859-2")

_CYRILLIC_FREQUENT = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё"
"""Letters of Russian by falling frequency; Ukrainian and Belarusian ones follow it closely enough."""
_CYRILLIC_WEIGHT = {letter: 1.0 - index / 40 for index, letter in enumerate(_CYRILLIC_FREQUENT)}
_CYRILLIC_WEIGHT.update(dict.fromkeys("іїєґў", 0.4))
_TYPOGRAPHY = frozenset("«»„“”‘’—–…№°§©®™\u00a0€·•")
_WESTERN_USUAL = frozenset(
    "éèêëàâäáãåæçñöóòôõøœüúùûßíìîïýÿÉÈÀÂÄÁÅÆÇÑÖÓØÜÚÍßąćęłńśźżčďěňřšťůžőűșțşţğıİăâîαβγδεζηθικλμνξοπρστυφχψωςάέήίόύώ"
)

_WORD = re.compile(r"[^\W\d_]+")


_RARE = {"mac-cyrillic": 0.3, "iso8859-5": 0.05, "cp1250": 0.05, "iso8859-2": 0.06, "cp1253": 0.02, "cp1254": 0.02}
"""Taken off the score of code pages that files are seldom written in."""
_ASIAN_SCALE = 0.65
"""Bytes that make well-formed Cyrillic words are hardly ever Chinese ones, while the reverse happens often."""


def rank_codepages(sample: bytes) -> list[str]:
    """Names of code pages that can read ``sample``, the likeliest first; ties keep the order of the tables."""
    scored: list[tuple[float, int, str]] = []
    for index, name in enumerate((*_CYRILLIC, *_ASIAN, *_WESTERN)):
        text = _read(sample, name, multi_byte=name in _ASIAN)
        if text is not None:
            scored.append((_RARE.get(name, 0.0) - _score(text, name), index, name))
    scored.sort()
    return [name for _, _, name in scored]


def _read(sample: bytes, name: str, *, multi_byte: bool) -> str | None:
    try:
        return sample.decode(name)
    except UnicodeDecodeError as error:
        if multi_byte and error.start >= len(sample) - 3:
            return sample[: error.start].decode(name)
        return None


def _score(text: str, name: str) -> float:
    """Mean usualness, between about -1 and 1, of the characters beyond ASCII."""
    strange = [char for char in text if char > "\x7f"]
    if not strange:
        return 0.0
    if name in _ASIAN:
        korean = sum(1 for char in strange if "\uac00" <= char <= "\ud7a3")
        bonus = 0.05 if name == "cp949" and korean >= 8 else 0.0
        return bonus + _ASIAN_SCALE * sum(_asian_weight(char, name) for char in strange) / len(strange)
    if name in _WESTERN:
        return _western_score(text, strange)
    return _cyrillic_score(text, strange)


def _cyrillic_score(text: str, strange: list[str]) -> float:
    total = 0.0
    for char in strange:
        if char in _TYPOGRAPHY:
            total += 0.3
        else:
            total += _CYRILLIC_WEIGHT.get(char.lower(), -1.0)
    for word in _WORD.findall(text):
        if word.isascii():
            continue
        total -= _case_faults(word) * 0.8
        if any(char < "\x80" for char in word):
            total -= 1.5
    return total / len(strange)


def _case_faults(word: str) -> int:
    """Capitals after small letters, and small letters of words that begin with several capitals."""
    if word.isupper() or word.islower():
        return 1 if word.isupper() and len(word) > 12 else 0
    return sum(1 for before, after in pairwise(word) if before.islower() and after.isupper()) + (
        1 if len(word) > 2 and word[:1].islower() else 0
    )


def _western_score(text: str, strange: list[str]) -> float:
    """Western text is mostly ASCII: letters beyond it stand alone inside words."""
    total = 0.0
    for char in strange:
        if char in _WESTERN_USUAL:
            total += 0.75
        else:
            total += 0.3 if char in _TYPOGRAPHY else -1.0
    letters = sum(1 for char in text if char.isalpha())
    wide = sum(1 for char in strange if char.isalpha())
    greek = sum(1 for char in strange if "Ͱ" <= char <= "Ͽ")
    crowding = 0.0 if greek > wide * 0.9 else max(0.0, (wide / letters if letters else 1.0) - 0.25) * 3
    words = [word for word in _WORD.findall(text) if not word.isascii()]
    faults = sum(_case_faults(word) for word in words)
    if greek:
        faults += sum(2 for word in words if any(char < "\x80" for char in word))
    return (total - faults * 0.8) / len(strange) - crowding


def _asian_weight(char: str, name: str) -> float:
    if "\u3040" <= char <= "\u30ff":
        return 0.95 if name in {"cp932", "euc_jp"} else 0.2
    if "\uac00" <= char <= "\ud7a3":
        return 0.9 if name == "cp949" and _is_common(char, "euc_kr", 0xB0, 0xC8) else -0.8
    if "\u3000" <= char <= "\u303f" or "\uff00" <= char <= "\uff5e":
        return 0.7
    if "\uff61" <= char <= "\uff9f":
        return -0.6
    if char in _TYPOGRAPHY:
        return 0.3
    if unicodedata.category(char) != "Lo":
        return -0.8
    return _han_weight(char, name)


def _han_weight(char: str, name: str) -> float:
    """The first level of each national character set holds its frequent characters."""
    if name == "gb18030":
        return 0.9 if _is_common(char, "gb2312", 0xB0, 0xD7) else -0.1
    if name == "big5hkscs":
        return 0.88 if _is_common(char, "big5", 0xA4, 0xC6) else -0.1
    if name == "cp932":
        return 0.6 if _is_common(char, "shift_jis", 0x88, 0x97) else -0.2
    if name == "euc_jp":
        return 0.6 if _is_common(char, "euc_jp", 0xB0, 0xCF) else -0.2
    return -0.4


def _is_common(char: str, charset: str, first: int, last: int) -> bool:
    try:
        lead = char.encode(charset)[0]
    except UnicodeEncodeError:
        return False
    return first <= lead <= last
