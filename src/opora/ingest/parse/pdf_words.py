"""Takes the words of a PDF page with their boxes, turned upright as a reader sees them."""

from __future__ import annotations

import ctypes
import math
import unicodedata
from dataclasses import dataclass
from typing import Any

HYPHEN = "\u2010"
"""Stands at the end of a word that pdfium takes for broken at a line end."""
_PDFIUM_HYPHENS = ("\x02", "\ufffe")
_SOFT_HYPHEN = "\u00ad"
_JUMP = 0.6
"""A gap between letters beyond this part of their size begins a new word."""
_MAX_RULES = 4_000
_FLAT = 3.0
_MIN_RULE = 20.0

Rect = tuple[float, float, float, float]
"""Left, top, right, bottom; points from the top left corner of the page as it is shown."""


@dataclass(slots=True, kw_only=True)
class Word:
    """A run of letters. ``quarter`` is the number of quarter turns clockwise that its text is turned by."""

    text: str
    page: int
    box: Rect
    size: float
    quarter: int
    spaced: bool = True
    """True when a space stands before it in the file."""


class _PageFrame:
    """Turns a page's own coordinates into points from the top left corner, its rotation carried out."""

    def __init__(self, page: Any) -> None:
        self.rotation = (page.get_rotation() // 90) % 4
        left, bottom, right, top = page.get_cropbox(fallback_ok=True)
        self._left, self._bottom, self._right, self._top = left, bottom, right, top

    def place(self, rect: Rect) -> Rect:
        """From (left, bottom, right, top) in the page's coordinates."""
        x0, y0, x1, y1 = rect
        if self.rotation == 1:
            return y0 - self._bottom, x0 - self._left, y1 - self._bottom, x1 - self._left
        if self.rotation == 2:
            return self._right - x1, y0 - self._bottom, self._right - x0, y1 - self._bottom
        if self.rotation == 3:
            return self._top - y1, self._right - x1, self._top - y0, self._right - x0
        return x0 - self._left, self._top - y1, x1 - self._left, self._top - y0


def page_words(page: Any, number: int) -> list[Word]:
    """Words in the order of the file; ligatures are spelt out, soft hyphens dropped."""
    from pypdfium2 import raw

    frame = _PageFrame(page)
    text_page = page.get_textpage()
    try:
        reader = _CharReader(raw, text_page.raw, frame, number)
        for index in range(text_page.count_chars()):
            reader.read(index)
        reader.end_word()
        return reader.words
    finally:
        text_page.close()


class _CharReader:
    """Joins characters to words."""

    def __init__(self, raw: Any, text_page: Any, frame: _PageFrame, number: int) -> None:
        self.words: list[Word] = []
        self._raw, self._page, self._frame, self._number = raw, text_page, frame, number
        self._rect = raw.FS_RECTF()
        self._pointer = ctypes.byref(self._rect)
        self._text: list[str] = []
        self._box: Rect = (0.0, 0.0, 0.0, 0.0)
        self._size = 0.0
        self._quarter = 0
        self._spaced = True
        self._high = 0

    def read(self, index: int) -> None:
        raw = self._raw
        char = self._char(raw.FPDFText_GetUnicode(self._page, index))
        if not char:
            return
        if char in _PDFIUM_HYPHENS:
            if self._text:
                self._text.append(HYPHEN)
            self.end_word()
            return
        if char.isspace():
            self.end_word()
            self._spaced = True
            return
        if char == _SOFT_HYPHEN:
            return
        if not raw.FPDFText_GetLooseCharBox(self._page, index, self._pointer):
            return
        rect = self._rect
        box = self._frame.place((rect.left, rect.bottom, rect.right, rect.top))
        if self._text and self._is_apart(box):
            self.end_word()
        if not self._text:
            self._begin(index, box)
        else:
            old = self._box
            self._box = (min(old[0], box[0]), min(old[1], box[1]), max(old[2], box[2]), max(old[3], box[3]))
        self._text.append(char)

    def end_word(self) -> None:
        if not self._text:
            return
        text = _spelt_out("".join(self._text))
        self.words.append(
            Word(
                text=text,
                page=self._number,
                box=self._box,
                size=self._size,
                quarter=self._quarter,
                spaced=self._spaced,
            )
        )
        self._text = []
        self._spaced = False

    def _begin(self, index: int, box: Rect) -> None:
        angle = self._raw.FPDFText_GetCharAngle(self._page, index)
        turned = round(angle / (math.pi / 2)) if angle > 0 else 0
        self._quarter = (turned + self._frame.rotation) % 4
        self._box = box
        width, height = box[2] - box[0], box[3] - box[1]
        self._size = height if self._quarter % 2 == 0 else width

    def _is_apart(self, box: Rect) -> bool:
        """True when the letter does not stand on the line of the word, or far along it."""
        old, size = self._box, max(self._size, 1.0)
        if self._quarter % 2 == 0:
            across = abs((box[1] + box[3]) - (old[1] + old[3])) / 2
            along = box[0] - old[2] if self._quarter == 0 else old[0] - box[2]
        else:
            across = abs((box[0] + box[2]) - (old[0] + old[2])) / 2
            along = box[1] - old[3] if self._quarter == 1 else old[1] - box[3]
        return across > size * 0.7 or along > size * _JUMP or along < -size * 3

    def _char(self, code: int) -> str:
        """The character of a code; the two halves of a wide one come one after the other."""
        if 0xD800 <= code < 0xDC00:
            self._high = code
            return ""
        if 0xDC00 <= code < 0xE000:
            high, self._high = self._high, 0
            return chr(0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00)) if high else ""
        return chr(code) if 0 < code < 0x110000 else ""


def page_rules(page: Any) -> list[Rect]:
    """Level lines drawn on the page, such as the ones between the rows of a table."""
    from pypdfium2 import raw

    frame = _PageFrame(page)
    rules: list[Rect] = []
    values = [ctypes.c_float() for _ in range(4)]
    pointers = [ctypes.byref(value) for value in values]
    count = raw.FPDFPage_CountObjects(page.raw)
    for index in range(min(count, _MAX_RULES)):
        item = raw.FPDFPage_GetObject(page.raw, index)
        if raw.FPDFPageObj_GetType(item) != raw.FPDF_PAGEOBJ_PATH:
            continue
        if not raw.FPDFPageObj_GetBounds(item, *pointers):
            continue
        x0, top, x1, bottom = frame.place((values[0].value, values[1].value, values[2].value, values[3].value))
        if x1 - x0 < _MIN_RULE:
            continue
        if bottom - top <= _FLAT:
            rules.append((x0, top, x1, bottom))
        elif raw.FPDFPath_CountSegments(item) <= 6:
            rules.extend(((x0, top, x1, top), (x0, bottom, x1, bottom)))
    return rules


def _spelt_out(text: str) -> str:
    """Ligatures as letters; composed forms. Other compatibility characters stay, since they may carry meaning."""
    if text.isascii():
        return text
    spelt = "".join(unicodedata.normalize("NFKC", char) if "\ufb00" <= char <= "\ufb06" else char for char in text)
    return unicodedata.normalize("NFC", spelt)
