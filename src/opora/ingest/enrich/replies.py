"""Reads what a model said when it was asked for questions or a summary: data, to be cleaned, counted and bounded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from opora.domain.enrichment import MAX_CHOSEN_TAGS
from opora.text.fold import clean, fold
from opora.text.names import clean_label
from opora.text.thinking import reply_alone

MAX_QUESTION_CHARS = 300
MIN_QUESTION_CHARS = 5
MAX_SUMMARY_CHARS = 2_000
MAX_TAG_CHARS = 40
MAX_TAG_WORDS = 4
"""A new tag that is longer is a sentence."""
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


def read_tags(reply: str, there: Iterable[str], *, may_be_new: bool, count: int = MAX_CHOSEN_TAGS) -> tuple[str, ...]:
    """At most ``count`` of the tags that are ``there``, in their own spelling, and new names where they are allowed."""
    known = {fold(name): name for name in there}
    found: dict[str, str] = {}
    for line in _lines(reply):
        name = clean_label(line)
        key = fold(name)
        if key in known:
            found.setdefault(key, known[key])
        elif may_be_new and key and len(name) <= MAX_TAG_CHARS and len(name.split()) <= MAX_TAG_WORDS:
            found.setdefault(key, name)
    return tuple(found.values())[:count]


def _lines(reply: str) -> Iterator[str]:
    for line in _bare(reply).splitlines():
        if text := _NUMBER.sub("", line.strip()).strip(_AROUND):
            yield text


def _bare(reply: str) -> str:
    return _FENCE.sub("", reply_alone(clean(reply))).strip()
