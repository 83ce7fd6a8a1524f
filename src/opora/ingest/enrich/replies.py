"""Reads what a model said when it was asked for questions or a summary: data, to be cleaned, counted and bounded."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opora.text.fold import clean
from opora.text.thinking import reply_alone

MAX_QUESTION_CHARS = 300
MIN_QUESTION_CHARS = 5
MAX_SUMMARY_CHARS = 2_000
_FENCE = re.compile(r"^\s*```[\w-]*\s*$", re.MULTILINE)
_NUMBER = re.compile(r"^\s*(?:[-*•–—]|\(?\d{1,2}[.):、）]|[QqВв]\d{0,2}[.:：])\s*")
_LABEL = re.compile(r"^\s*(?:summary|резюме|краткое содержание|описание|摘要|概要)\s*[:：]\s*", re.IGNORECASE)
_AROUND = " \t\"'`*_«»“”„‘’"


def read_text(reply: str, *, limit: int = MAX_SUMMARY_CHARS) -> str:
    """A text of a few sentences: without thinking, fences and label, cut at the end of a sentence within ``limit``."""
    text = _LABEL.sub("", _bare(reply)).strip()
    if len(text) <= limit:
        return text
    ends = [match.end() for match in re.finditer(r"[.!?。！？…](?=\s|$|[^\x00-\x7f])", text[:limit])]
    return text[: ends[-1]].rstrip() if ends else text[: limit - 1].rstrip() + "…"


def read_questions(reply: str, *, count: int) -> tuple[str, ...]:
    """At most ``count`` different questions, one a line. A line that does not ask anything is talk and is left out."""
    found: dict[str, str] = {}
    for line in _lines(reply):
        if MIN_QUESTION_CHARS <= len(line) <= MAX_QUESTION_CHARS and line.rstrip().endswith(("?", "？")):
            found.setdefault(" ".join(line.lower().split()), line)
    return tuple(found.values())[:count]


def _lines(reply: str) -> Iterator[str]:
    for line in _bare(reply).splitlines():
        if text := _NUMBER.sub("", line.strip()).strip(_AROUND):
            yield text


def _bare(reply: str) -> str:
    return _FENCE.sub("", reply_alone(clean(reply))).strip()
