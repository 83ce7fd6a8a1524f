"""Cleans names and titles that come from outside, for display only: none ever becomes a path or a line of its own."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import count
from urllib.parse import quote

import regex

from opora.text.graphemes import safe_cut

MAX_NAME_BYTES = 255
MAX_LABEL_CHARS = 500
FALLBACK_NAME = "document"

_MAX_EXTENSION_BYTES = 20
_JOINERS = "\u200c\u200d"
"""Zero-width characters that letters and emoji need; all other format characters go."""
_NUMBER = re.compile(r" \(\d{1,3}\)\Z")
_SPACES = re.compile(r"\s+")
_SEPARATORS = re.compile(r"[/\\]")


def clean_file_name(name: str, *, fallback: str = FALLBACK_NAME) -> str:
    """The last part of ``name`` as one line of NFC text of at most `MAX_NAME_BYTES` bytes, never empty.

    Percent-encoded names stay as they are: decoding would make a path out of a label.
    """
    cleaned = _one_line(_SEPARATORS.split(name)[-1])
    if not cleaned.strip("." + " " + _JOINERS):
        return fallback
    return _shorten(cleaned)


def clean_label(text: str) -> str:
    """A title or name as one line of NFC text of at most `MAX_LABEL_CHARS` characters; '' when nothing is visible."""
    line = _one_line(text)
    return line[: safe_cut(line, MAX_LABEL_CHARS)].rstrip(" " + _JOINERS)


def numbered_names(name: str, *, most: int) -> Iterator[str]:
    """Names for copies of what has this one: with a number from 2 behind it, of at most ``most`` characters."""
    stem = _NUMBER.sub("", name)
    for number in count(2):
        tail = f" ({number})"
        yield stem[: most - len(tail)].rstrip() + tail


def content_disposition(name: str, *, inline: bool = False) -> str:
    """The header value that offers a file under its cleaned name, also to readers that know ASCII only."""
    cleaned = clean_file_name(name)
    plain = unicodedata.normalize("NFKD", cleaned).encode("ascii", "ignore").decode()
    plain = _SPACES.sub(" ", re.sub(r"[^\w .()\-]+", "_", plain)).strip(" _")
    if not plain or plain.startswith("."):
        plain = FALLBACK_NAME + plain
    kind = "inline" if inline else "attachment"
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(cleaned, safe='')}"


def extension(name: str) -> str:
    """The lower-case extension of a cleaned name with its dot, or ''."""
    stem, dot, tail = name.rpartition(".")
    return f".{tail.lower()}" if dot and stem and tail else ""


def _one_line(text: str) -> str:
    """The text without control characters, direction marks and line ends."""
    visible = "".join(_visible(char) for char in text)
    return _SPACES.sub(" ", unicodedata.normalize("NFC", visible)).strip(" " + _JOINERS)


def _visible(char: str) -> str:
    if char in "\t\n\r\x0b\x0c\x85\u2028\u2029":
        return " "
    if char in _JOINERS:
        return char
    return "" if unicodedata.category(char) in {"Cc", "Cf", "Cs"} or _is_noncharacter(ord(char)) else char


def _is_noncharacter(code: int) -> bool:
    """Code points that will never be characters; those that are merely newer than Python's tables stay."""
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


def _shorten(name: str) -> str:
    if len(name.encode()) <= MAX_NAME_BYTES:
        return name
    stem, dot, tail = name.rpartition(".")
    suffix = dot + tail
    if not stem or len(suffix.encode()) > _MAX_EXTENSION_BYTES:
        stem, suffix = name, ""
    room = MAX_NAME_BYTES - len(suffix.encode())
    kept: list[str] = []
    for letter in regex.findall(r"\X", stem):
        room -= len(letter.encode())
        if room < 0:
            break
        kept.append(letter)
    return ("".join(kept).rstrip() or FALLBACK_NAME) + suffix
