"""Knows what the styles and numberings of a Word document mean: headings, list depth, printed numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from opora.ingest.parse.docx_parts import attribute, q

if TYPE_CHECKING:
    from lxml.etree import _Element

BODY_LEVEL = 9
"""The outline level that means ordinary text."""
_HEADING_NAME = re.compile(r"(?:heading|заголовок)\s*([1-9])\Z", re.IGNORECASE)
_LIST_NAME = re.compile(r"list(?:\s*(?:bullet|number|continue))?\s*([2-9])\Z", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"%([1-9])")
_CHAIN = 20


class Styles:
    """Paragraph styles by id, each read through the ones it is based on."""

    def __init__(self, root: _Element | None) -> None:
        self._by_id: dict[str, _Element] = {}
        self._names: dict[str, str] = {}
        for style in root.findall(q("style")) if root is not None else ():
            key = attribute(style, "styleId")
            name = style.find(q("name"))
            self._by_id[key] = style
            self._names[key] = attribute(name, "val") if name is not None else key

    def heading_level(self, properties: _Element | None) -> int:
        """1 to 6, or 0 for text that is no heading."""
        for source in self._sources(properties):
            outline = source.find(q("outlineLvl"))
            if outline is not None:
                level = _number(attribute(outline, "val"), BODY_LEVEL)
                return 0 if level >= BODY_LEVEL else min(level + 1, 6)
        for key in self._chain(_style_id(properties)):
            name = self._names.get(key, key)
            found = _HEADING_NAME.match(name) or _HEADING_NAME.match(key)
            if found:
                return min(int(found.group(1)), 6)
            if name.lower() == "title":
                return 1
        return 0

    def list_number(self, properties: _Element | None) -> tuple[str, int] | None:
        """The numbering and its level that a paragraph belongs to, or None outside lists."""
        number, level = "", None
        for source in self._sources(properties):
            found = source.find(q("numPr"))
            if found is None:
                continue
            number = number or _child_value(found, "numId")
            if level is None and _child_value(found, "ilvl"):
                level = _number(_child_value(found, "ilvl"), 0)
        return (number, level or 0) if number and number != "0" else None

    def list_depth(self, properties: _Element | None, level: int) -> int:
        """How deep an item stands: by its level, or by the number in the name of a list style."""
        if level:
            return level
        for key in self._chain(_style_id(properties)):
            found = _LIST_NAME.match(self._names.get(key, key))
            if found:
                return int(found.group(1)) - 1
        return 0

    def _sources(self, properties: _Element | None) -> list[_Element]:
        """The paragraph's own properties, then those of its style and of the styles under that."""
        found = [properties] if properties is not None else []
        for key in self._chain(_style_id(properties)):
            inner = self._by_id[key].find(q("pPr")) if key in self._by_id else None
            if inner is not None:
                found.append(inner)
        return found

    def _chain(self, key: str) -> list[str]:
        keys: list[str] = []
        while key and key not in keys and len(keys) < _CHAIN:
            keys.append(key)
            style = self._by_id.get(key)
            key = _child_value(style, "basedOn") if style is not None else ""
        return keys


class Numbering:
    """Counts the items of each numbering and gives the label that Word would print."""

    def __init__(self, root: _Element | None) -> None:
        self._levels: dict[tuple[str, int], tuple[str, str, int]] = {}
        self._abstract: dict[str, str] = {}
        self._counts: dict[str, list[int]] = {}
        self._restarted: set[str] = set()
        if root is None:
            return
        for abstract in root.findall(q("abstractNum")):
            for level in abstract.findall(q("lvl")):
                key = (attribute(abstract, "abstractNumId"), _number(attribute(level, "ilvl"), 0))
                start = _number(_child_value(level, "start"), 1)
                self._levels[key] = (_child_value(level, "numFmt"), _child_value(level, "lvlText"), start)
        for number in root.findall(q("num")):
            self._abstract[attribute(number, "numId")] = _child_value(number, "abstractNumId")
            if number.find(f"{q('lvlOverride')}/{q('startOverride')}") is not None:
                self._restarted.add(attribute(number, "numId"))

    def label(self, number: str, level: int) -> str:
        """The next label of a level: ``-`` for bullets, else such as ``3.``, ``2.1`` or ``б)``."""
        abstract = self._abstract.get(number, "")
        style, pattern, start = self._levels.get((abstract, level), ("bullet", "", 1))
        if style in ("bullet", "none", ""):
            return "-"
        counter = f"restarted {number}" if number in self._restarted else abstract
        counts = self._counts.setdefault(counter, [0] * 10)
        level = min(level, 9)
        counts[level] = counts[level] + 1 if counts[level] else start
        counts[level + 1 :] = [0] * (9 - level)

        def part(found: re.Match[str]) -> str:
            index = int(found.group(1)) - 1
            form, _, begin = self._levels.get((abstract, index), (style, "", 1))
            return _in_form(counts[index] or begin, form)

        return _PLACEHOLDER.sub(part, pattern) or "-"


def _in_form(count: int, form: str) -> str:
    if form in ("lowerLetter", "upperLetter"):
        letters = "abcdefghijklmnopqrstuvwxyz"
    elif form in ("russianLower", "russianUpper"):
        letters = "абвгдежзиклмнопрстуфхцчшщэюя"
    elif form in ("lowerRoman", "upperRoman"):
        return _roman(count) if form == "upperRoman" else _roman(count).lower()
    elif form == "decimalZero":
        return f"{count:02d}"
    else:
        return str(count)
    letter = letters[(count - 1) % len(letters)] * ((count - 1) // len(letters) % 5 + 1)
    return letter.upper() if form.endswith("Upper") or form.startswith("upper") else letter


def _roman(count: int) -> str:
    if not 0 < count < 4000:
        return str(count)
    text = ""
    for value, sign in zip((1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1), _ROMAN_SIGNS, strict=True):
        text += sign * (count // value)
        count %= value
    return text


_ROMAN_SIGNS = ("M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I")


def _style_id(properties: _Element | None) -> str:
    return _child_value(properties, "pStyle") if properties is not None else ""


def _child_value(node: _Element, name: str) -> str:
    child = node.find(q(name))
    return attribute(child, "val") if child is not None else ""


def _number(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else default
