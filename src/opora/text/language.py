"""Tells Russian, Chinese and English apart by script, so that fixed texts come in the language of the question."""

from __future__ import annotations

import re

RUSSIAN = "ru"
CHINESE = "zh"
ENGLISH = "en"
HAN_WEIGHT = 2
"""One Chinese character says about as much as two letters."""
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA = re.compile("[\u3040-\u30ff]")
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")
_CODE_WORD = re.compile(r"\b(?=[A-Za-z_./:\-]*[\d_./:A-Z])[A-Za-z0-9_./:\-]+\b")


def detect_language(text: str, default: str = ENGLISH) -> str:
    """``ru``, ``zh`` or ``en``; ``default`` when the text has no letters of their scripts.

    Codes and names in Latin letters do not make a Russian or Chinese question English.
    """
    han = HAN_WEIGHT * len(_HAN.findall(text))
    cyrillic = len(_CYRILLIC.findall(text))
    if han and not _KANA.search(text) and han >= cyrillic:
        latin = len(_LATIN.findall(_CODE_WORD.sub("", text)))
        return CHINESE if han >= latin else ENGLISH
    if cyrillic:
        latin = len(_LATIN.findall(_CODE_WORD.sub("", text)))
        return RUSSIAN if cyrillic >= latin else ENGLISH
    return ENGLISH if _LATIN.search(text) else default
