"""Finds the words of a question in a text, in whatever form they stand there, to be marked for a reader."""

from __future__ import annotations

from collections.abc import Set

import regex

from opora.text.terms import index_terms, is_unspaced, query_terms

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}ー々"
_WORDS = regex.compile(rf"[{_UNSPACED}]+|[[\p{{L}}\p{{M}}\p{{N}}]--[{_UNSPACED}]]+", regex.V1)


def marks(text: str, question: str) -> list[tuple[int, int]]:
    """Where words of the question stand in the text: (start, end) in order, none touching another."""
    asked = frozenset(query_terms(question))
    found: list[tuple[int, int]] = []
    if not asked:
        return found
    for match in _WORDS.finditer(text):
        places = _in_run(match, asked) if is_unspaced(match[0]) else _whole(match, asked)
        for start, end in places:
            if found and found[-1][1] >= start:
                found[-1] = (found[-1][0], max(found[-1][1], end))
            else:
                found.append((start, end))
    return found


def _whole(match: regex.Match[str], asked: Set[str]) -> list[tuple[int, int]]:
    return [] if asked.isdisjoint(index_terms(match[0])) else [match.span()]


def _in_run(match: regex.Match[str], asked: Set[str]) -> list[tuple[int, int]]:
    """Characters and pairs of a script without spaces."""
    start, run = match.start(), match[0]
    return [
        (start + at, start + at + size)
        for at in range(len(run))
        for size in (1, 2)
        if at + size <= len(run) and run[at : at + size] in asked
    ]
