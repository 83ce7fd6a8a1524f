"""Folding of text for search: forms that readers take for the same word become the same characters."""

from __future__ import annotations

import re
import unicodedata

_SPACES = dict.fromkeys([0, 0x2116], " ")
"""NUL would cut the text in a C library. The numero sign would become the word 'no' and stick to its number."""

_NOTHING = dict.fromkeys(
    [
        0x00AD,  # soft hyphen
        *range(0x200B, 0x2010),  # zero-width space and joiners, direction marks
        *range(0x2060, 0x2065),  # word joiner, invisible operators
        0xFEFF,  # byte order mark
        0x2120,  # service mark: NFKC would glue the letters SM to the word
        0x2122,  # trade mark, likewise
    ],
    None,
)
_VISIBLE = re.compile("[^\\s" + "".join(re.escape(chr(c)) for c in _NOTHING if c not in (0x2120, 0x2122)) + "]")
_FORMS = {0x2019: "'", 0x02BC: "'", 0x2010: "-", 0x2011: "-", 0x2212: "-"}
_BEFORE = {**_SPACES, **_NOTHING, **_FORMS, **dict.fromkeys(range(0xD800, 0xE000), " ")}
_SPECIAL = re.compile("[" + "".join(map(re.escape, map(chr, _BEFORE))) + "]")
"""Few texts hold any of them, and to search is far quicker than to translate."""
_AFTER = {"\u0300": "", "\u0301": "", "ё": "е", "Ё": "Е", "\u2010": "-"}
"""Accents that NFKC leaves alone are stress marks of Russian dictionaries; ё is often typed е."""


def clean(text: str) -> str:
    """The text without what no store accepts: NUL and lone surrogates, each a space so that offsets stay."""
    if text.isascii():
        return text.replace("\0", " ")
    return "".join(" " if c == "\0" or "\ud800" <= c <= "\udfff" else c for c in text) if _unclean(text) else text


def is_blank(text: str) -> bool:
    """Whether nothing of the text is seen: blanks, and characters of no width."""
    return _VISIBLE.search(text) is None


def _unclean(text: str) -> bool:
    if "\0" in text:
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def normalise(text: str) -> str:
    """The text in NFKC with invisible characters gone and ё read as е; letters keep their case."""
    if text.isascii():
        return text.replace("\0", " ")
    if _SPECIAL.search(text):
        text = text.translate(_BEFORE)
    text = unicodedata.normalize("NFKC", text)
    for mark, form in _AFTER.items():
        text = text.replace(mark, form)
    return text


def fold(text: str) -> str:
    """The form in which search compares text; folding twice changes nothing more."""
    folded = normalise(text).casefold()
    while (again := normalise(folded).casefold()) != folded:
        folded = again
    return folded
