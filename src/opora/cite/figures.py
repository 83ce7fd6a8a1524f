"""Numbers and codes of a text in forms that can be compared: '1 000,50' is 1000.5, and a 28 is no 30."""

from __future__ import annotations

import re

from opora.cite.number_words import number_words
from opora.text.fold import normalise

_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:[ '\u00a0\u2009\u202f]\d{3})+(?![\d])")
_CHAR = r"[^\W_\u3040-\u30ff\u3400-\u9fff]"
_TOKEN = re.compile(rf"{_CHAR}*\d{_CHAR}*(?:[.,:/\-–]{_CHAR}*\d{_CHAR}*)*")
_DECIMAL = re.compile(r"(\d+)([.,])(\d+)\Z")
_PARTS = re.compile(r"[.,:/\-–]")
_DASH = re.compile(r"[\-–]")
_RUN = re.compile(r"\d+")

Forms = frozenset[str]


def figures(text: str) -> tuple[Forms, ...]:
    """The numbers, dates and codes of a text, each as the set of forms that it may be written in; words at the end."""
    joined = _GROUPED.sub(lambda match: re.sub(r"\D", "", match[0]), normalise(text)).lower()
    found = [_forms(part) for token in _TOKEN.findall(joined) for part in _ends(token)]
    return (*found, *(frozenset({str(value)}) for value in number_words(joined)))


def missing(statement: str, source: str) -> list[Forms]:
    """The figures of a statement that the source does not hold in any form."""
    wanted = figures(statement)
    if not wanted:
        return []
    there = frozenset(form for forms in figures(source) for form in forms)
    return [forms for forms in wanted if not forms & there]


def _ends(token: str) -> list[str]:
    """The two ends of a range (3-5, 2024–2026), else the token itself."""
    parts = _DASH.split(token)
    return parts if len(parts) == 2 and all(_RUN.fullmatch(part) for part in parts) else [token]


def _forms(token: str) -> Forms:
    """A comma or a point may part decimals or thousands."""
    decimal = _DECIMAL.fullmatch(token)
    if decimal:
        whole, _, fraction = decimal.groups()
        forms = {f"{_plain(whole)}.{fraction.rstrip('0')}".rstrip(".")}
        if len(fraction) == 3 and len(whole) <= 3 and whole != "0":
            forms.add(_plain(whole + fraction))
        return frozenset(forms)
    parts = [_plain(part) for part in _PARTS.split(token)]
    return frozenset({":".join(parts)}) if len(parts) > 1 else frozenset({_plain(token)})


def _plain(part: str) -> str:
    """Without zeros in front."""
    return part.lstrip("0") or "0" if _RUN.fullmatch(part) else part
