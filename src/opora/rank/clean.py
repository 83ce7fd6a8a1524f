"""Takes Markdown's marks off a passage: a reranker weighs meaning, and marks are noise to it."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n`]*$", re.MULTILINE)
_FORMULA = re.compile(r"\$\$(.*?)\$\$", re.DOTALL)
_TAG = re.compile(r"</?[A-Za-z][^<>\n]*>|<!--.*?-->", re.DOTALL)
_IMAGE = re.compile(r"!\[[^\]\n]*\]\([^)\n]*\)")
_LINK = re.compile(r"\[([^\]\n]*)\]\([^)\n]*\)")
_ADDRESS = re.compile(r"<?\bhttps?://[^\s<>]+>?|\bwww\.[^\s<>]+")
_TABLE_RULE = re.compile(r"^[ \t]*\|?(?:[ \t]*:?-{2,}:?[ \t]*\|)+(?:[ \t]*:?-{2,}:?[ \t]*)?$\n?", re.MULTILINE)
_TABLE_ROW = re.compile(r"^[ \t]*\|(.+?)\|?[ \t]*$", re.MULTILINE)
_LINE_MARK = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+|\d{1,3}[.)][ \t]+)+", re.MULTILINE)
_BOLD = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1", re.DOTALL)
_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")


def clean_passage(text: str) -> str:
    """The words of a passage without marks.

    Of code fences and formulas only the fence goes, the inside stays; links keep their text; tags, image links, bare
    addresses and table rules go; cells of a table row are joined by commas; marks of headings, quotes, lists and bold
    type go; blank lines are folded.
    """
    if "```" in text or "~~~" in text:
        text = _FENCE.sub("", text)
    if "$$" in text:
        text = _FORMULA.sub(lambda match: match[1].strip(), text)
    if "](" in text:
        text = _LINK.sub(r"\1", _IMAGE.sub("", text))
    if "://" in text or "www." in text:
        text = _ADDRESS.sub("", text)
    if "<" in text:
        text = _TAG.sub("", text)
    if "|" in text:
        text = _TABLE_ROW.sub(_joined_cells, _TABLE_RULE.sub("", text))
    text = _LINE_MARK.sub("", text)
    if "**" in text or "__" in text:
        text = _BOLD.sub(r"\2", text)
    return _BLANK_LINES.sub("\n\n", text).strip()


def _joined_cells(row: re.Match[str]) -> str:
    return ", ".join(cell for part in row[1].split("|") if (cell := part.strip()))
