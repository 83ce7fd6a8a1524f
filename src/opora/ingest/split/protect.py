"""Finds what must not be cut inside running text: fenced code, formulas, links and addresses."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

Span = tuple[int, int]

_FENCE = re.compile(r"^[ \t]{0,3}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_LABEL = r"\[(?:[^\[\]]|\[[^\[\]]*\](?:\([^()\s]*\))?)*+\]"
_INLINE = re.compile(
    r"\$\$[^$\n]++(?:\n[^$\n]++)*+\n?\$\$"
    rf"|!?{_LABEL}\([^()\s]*+(?:\([^()\s]*\)[^()\s]*+)*+(?:[^\S\n]+\"[^\"\n]*\")?\)"
    r"|\b(?:https?|ftp)://[^\s<>\"`\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]++"
)


def protected_spans(text: str) -> list[Span]:
    """Rising spans without overlap. Text without any of the marks costs a few substring searches."""
    found: list[Span] = []
    if "```" in text or "~~~" in text:
        found += [(begin, end) for begin, end, _ in fences(text)]
    if "](" in text or "://" in text or "$$" in text:
        found += [match.span() for match in _INLINE.finditer(text)]
    return merged(found)


def fences(text: str) -> Iterator[tuple[int, int, bool]]:
    """Begin and end of fenced code, fences included, and whether it closes; one left open runs to the end.

    A fence is closed by its own sign, as many times or more.
    """
    opened: tuple[int, str] | None = None
    for match in _FENCE.finditer(text):
        fence, rest = match.group(1), match.group(2)
        if opened is None:
            if not (fence[0] == "`" and "`" in rest):
                opened = (match.start(), fence)
        elif fence.startswith(opened[1]) and not rest.strip():
            yield opened[0], match.end(), True
            opened = None
    if opened is not None:
        yield opened[0], len(text), False


def is_balanced(text: str) -> bool:
    """Whether every code fence that opens in ``text`` also closes in it."""
    return all(is_closed for _, _, is_closed in fences(text)) if "```" in text or "~~~" in text else True


def merged(spans: Iterable[Span], *, cap: int | None = None) -> list[Span]:
    """Spans in order, those that touch or overlap made one; with ``cap`` only while the result is no longer than it."""
    result: list[Span] = []
    for begin, end in sorted(spans):
        if result and begin <= result[-1][1]:
            joined = (result[-1][0], max(end, result[-1][1]))
            if cap is None or joined[1] - joined[0] <= cap:
                result[-1] = joined
                continue
            begin = result[-1][1]
        if begin < end:
            result.append((begin, end))
    return result


def covering(shields: list[Span], position: int) -> Span | None:
    """The span that ``position`` lies strictly inside of."""
    index = bisect_right(shields, (position, -1)) - 1
    if index >= 0 and shields[index][0] < position < shields[index][1]:
        return shields[index]
    return None
