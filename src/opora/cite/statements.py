"""Takes out of an answer the statement that each citation stands behind, as plain text without Markdown's marks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opora.cite.tags import Citation, parse_citations
from opora.text.sentences import sentence_spans

_LINE_START = re.compile(r"(?m)^[^\S\n]*(?:>[^\S\n]*)*(?:(?:[*+\-•]|#{1,6}|\d{1,3}[.)])[^\S\n]+)?")
_QUOTED = re.compile(r"(?m)^> ?")
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*\)")
_RULE = re.compile(r"(?m)^[\s|:=+-]+$")
_EMPHASIS = re.compile(r"\*{1,3}|(?<![^\W_])_{1,3}|_{1,3}(?![^\W_])|`+|~~")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_WORD = re.compile(r"[^\W_]")


def statements(answer: str) -> Iterator[tuple[Citation, tuple[str, ...]]]:
    """Each citation with the readings of what stands before it, the longest first.

    Citations in a row stand behind the same words. One that nothing stands before belongs to what follows it.
    """
    found = parse_citations(answer)
    segment, behind = "", 0
    for index, citation in enumerate(found):
        between = answer[behind : citation.start]
        if _WORD.search(between):
            segment = _BLANK_LINE.split(between.rstrip())[-1]
        behind = citation.end
        yield citation, readings(segment) if segment else readings(_following(answer, found[index:]))


def readings(segment: str) -> tuple[str, ...]:
    """A stretch of an answer: as a quotation, as plain text, the last line of that, its last sentence."""
    text = plain(segment)
    spans = sentence_spans(text)
    last = text[slice(*spans[-1])] if spans else ""
    quoted = _QUOTED.sub("", segment).strip() if _QUOTED.match(segment.lstrip()) else ""
    return tuple(dict.fromkeys(part for part in (quoted, text, text.rsplit("\n", 1)[-1].strip(), last) if part))


def plain(text: str) -> str:
    """Without quotation marks, list marks, emphasis, link targets and the bars of tables."""
    text = _LINK.sub(r"\1", _LINE_START.sub("", text))
    text = _EMPHASIS.sub("", _RULE.sub("", text))
    lines = (" | ".join(cell.strip() for cell in line.strip("| \t").split("|")) for line in text.split("\n"))
    return "\n".join(line.strip() for line in lines if line.strip())


def _following(answer: str, citations: list[Citation]) -> str:
    """The text behind a row of citations that an answer begins with, up to the next one."""
    for citation, after in zip(citations, [*citations[1:], None], strict=True):
        between = answer[citation.end : after.start if after else len(answer)]
        if _WORD.search(between):
            first = _BLANK_LINE.split(between.strip())[0]
            spans = sentence_spans(first)
            return first[slice(*spans[0])] if spans else ""
    return ""
