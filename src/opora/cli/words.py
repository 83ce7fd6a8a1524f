"""Text on its way to a terminal: nothing that a document holds may steer the terminal."""

from __future__ import annotations

import unicodedata

import typer

_KEPT = frozenset("\n\t")
_STEERING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Marks of writing direction: they can make a line read otherwise than it is written."""
_WIDE = frozenset("WF")


def plain(text: str) -> str:
    """The text with control characters shown as U+FFFD."""
    if text.isascii() and text.isprintable():
        return text
    return "".join("\ufffd" if _steers(char) else char for char in text)


def say(text: str = "", *, to_people: bool = False) -> None:
    """One line of a result on standard output; ``to_people``: a remark, on standard error."""
    typer.echo(plain(text), err=to_people)


def width(text: str) -> int:
    """How many columns of a terminal the text takes: Chinese characters take two, combining marks none."""
    return sum(0 if unicodedata.combining(char) else 2 if _is_wide(char) else 1 for char in text)


def cell(text: str, columns: int) -> str:
    """The text cut or filled to a number of columns."""
    if width(text) > columns:
        while width(text) > columns - 1:
            text = text[:-1]
        text += "…"
    return text + " " * (columns - width(text))


def _is_wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in _WIDE


def _steers(char: str) -> bool:
    return char in _STEERING or (unicodedata.category(char) in ("Cc", "Cs") and char not in _KEPT)
