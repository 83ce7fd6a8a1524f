"""Estimates how many tokens a text takes in a language model, without any model's tokeniser."""

from __future__ import annotations

import math

ASCII_CHARS_PER_TOKEN = 4.0
ALPHABET_CHARS_PER_TOKEN = 2.5
"""Cyrillic, Greek and other alphabets of two bytes a letter."""
WIDE_TOKENS_PER_CHAR = 1.0
"""Chinese and other characters of three bytes and more."""


def estimate_tokens(text: str) -> int:
    """Rather too many than too few; 0 for an empty text. The scripts are told apart by their bytes in UTF-8."""
    total = len(text)
    ascii_chars = total if text.isascii() else len(text.encode("ascii", "ignore"))
    if ascii_chars == total:
        return math.ceil(total / ASCII_CHARS_PER_TOKEN)
    extra = len(text.encode("utf-8", "replace")) - total
    others = total - ascii_chars
    wide = min(others, max(0, extra - others))
    tokens = ascii_chars / ASCII_CHARS_PER_TOKEN + (others - wide) / ALPHABET_CHARS_PER_TOKEN
    return math.ceil(tokens + wide * WIDE_TOKENS_PER_CHAR)
