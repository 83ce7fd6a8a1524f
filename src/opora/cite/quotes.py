"""Checks that a quote really stands in its source, and where."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_VARIANTS = str.maketrans(
    {
        **dict.fromkeys("«»„“”‟″〝〞＂「」『』", '"'),
        **dict.fromkeys("‘’‚‛′＇`´", "'"),
        **dict.fromkeys("‐‑‒–—―−﹣－", "-"),
        "…": "...",
        "。": ".",
        "，": ",",
        "、": ",",
        "！": "!",
        "？": "?",
        "：": ":",
        "；": ";",
        "（": "(",
        "）": ")",
        "【": "[",
        "】": "]",
    }
)
_UNSEEN = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff\ufffe")
"""Soft hyphens, zero-width characters and the mark that PDF readers put where a word was broken."""
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_LEFT = " \"'"
_RIGHT = " \"'.,;:!?"
"""Punctuation around a quote that may be the writer's own. A minus or a point before a number is not."""
MIN_FOLDED_CHARS = 3
"""A shorter quote is found by its exact characters only: folded, it would stand everywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """Offsets of a quote in its source; ``exact`` when it stands there character by character."""

    start: int
    end: int
    exact: bool


def locate(quote: str, source: str) -> Located | None:
    """The first place of ``quote`` in ``source``: exact, else with blanks and the forms of punctuation made equal.

    None when it does not stand there: letters and digits are never folded away.
    """
    wanted = quote.strip()
    if not wanted:
        return None
    at = _find(wanted, source)
    if at >= 0:
        return Located(start=at, end=at + len(wanted), exact=True)
    folded_quote = _fold(wanted)[0].lstrip(_LEFT).rstrip(_RIGHT)
    if not folded_quote or (len(folded_quote) < MIN_FOLDED_CHARS and not _IDEOGRAPH.search(folded_quote)):
        return None
    folded, starts, ends = _fold(source)
    at = _find(folded_quote, folded)
    if at < 0:
        return None
    return Located(start=starts[at], end=ends[at + len(folded_quote) - 1], exact=False)


def _find(wanted: str, text: str) -> int:
    """The first place where ``wanted`` stands as whole words and numbers ('5 days' is not in '15 days'), or -1."""
    at = text.find(wanted)
    while at >= 0:
        if not (_is_inside_word(text, at) or _is_inside_word(text, at + len(wanted))):
            return at
        at = text.find(wanted, at + 1)
    return -1


def _is_inside_word(text: str, at: int) -> bool:
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    return before.isalnum() and after.isalnum() and not (_is_ideograph(before) or _is_ideograph(after))


def _fold(text: str) -> tuple[str, list[int], list[int]]:
    """Folded text, and for each of its characters the begin and the end of what it came from."""
    out: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for at, char in enumerate(text):
        if char in _UNSEEN:
            continue
        if char.isspace():
            if out and out[-1] != " ":
                out.append(" ")
                starts.append(at)
                ends.append(at + 1)
            continue
        for piece in unicodedata.normalize("NFC", char).translate(_VARIANTS):
            if out and out[-1] == " " and len(out) > 1 and _is_ideograph(piece) and _is_ideograph(out[-2]):
                # Chinese has no blanks between words: one there is a line end of the layout.
                out.pop()
                starts.pop()
                ends.pop()
            out.append(piece)
            starts.append(at)
            ends.append(at + 1)
    return "".join(out), starts, ends


def _is_ideograph(char: str) -> bool:
    return _IDEOGRAPH.match(char) is not None
