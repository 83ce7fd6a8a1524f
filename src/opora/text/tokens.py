"""Splits text into simple tokens and compares token sets: for variety, near-duplicates and history, not for search."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3040-\u30ff\U00020000-\U0003ffff"
_TOKEN = re.compile(rf"[{_HAN}]|[^\W_{_HAN}]+")
_CODE = re.compile(r"[^\W_]*\d(?:[\w.,:/+\-]*\w)?%?|[^\W\d_]+(?:[-/][^\W\d_]+)*-\d[\w\-]*")
_NAME = re.compile(r"(?<=[^\W_] )[^\W\d_]\w+")
_NEGATION = frozenset(
    (
        *("не", "нет", "ни", "без", "нельзя", "кроме"),
        *("no", "not", "never", "none", "without", "except", "cannot", "don", "doesn", "isn", "aren"),
        *"不没無无非未勿禁",
    )
)


def simple_tokens(text: str) -> list[str]:
    """Lower-case words of letters and digits, Chinese and kana character by character, in reading order."""
    return _TOKEN.findall(text.lower().replace("ё", "е"))


def token_set(text: str) -> frozenset[str]:
    return frozenset(simple_tokens(text))


def jaccard(a: AbstractSet[str], b: AbstractSet[str]) -> float:
    """Shared tokens over all tokens; 0 for two empty sets."""
    shared = len(a & b)
    union = len(a) + len(b) - shared
    return shared / union if union else 0.0


def overlap_coefficient(a: AbstractSet[str], b: AbstractSet[str]) -> float:
    """Shared tokens over the smaller set (Szymkiewicz–Simpson); 0 when either is empty."""
    smaller = min(len(a), len(b))
    return len(a & b) / smaller if smaller else 0.0


def codes(text: str) -> frozenset[str]:
    """Numbers, codes and amounts as they stand ('5,5%', 'kb-1234', '12:30'): what two alike rows differ in."""
    return frozenset(_CODE.findall(text.lower()))


def names(text: str) -> frozenset[str]:
    """Capitalised words inside sentences, in lower case: places, people, products."""
    return frozenset(word.lower() for word in _NAME.findall(text) if word[0].isupper())


def negations(tokens: AbstractSet[str]) -> frozenset[str]:
    """The negating words among tokens: with and without one, a sentence says the opposite."""
    return frozenset(tokens & _NEGATION)
