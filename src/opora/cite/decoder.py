"""Turns the aliases in a model's text into public tags, the same wherever the stream was cut.

It fails closed: an unknown alias, a mark inside code, a tag that the model made up itself and a mark that never ends
are left out; the text around them stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from opora.cite.code import CodeTracker

Resolve = Callable[[str], str]
"""The public tag of an alias, or '' for one that is not known."""

MAX_HELD = 64
"""Characters of a mark that are read before it is given up."""
MAX_FORGED = 4096
"""Characters of a public tag written by the model that are taken out before its end is given up."""

_NAMES = ("ref", "kb", "web")
_OPENINGS = tuple(f"<{slash}{name}" for name in _NAMES for slash in ("", "/"))
_PREFIXES = frozenset(opening[:size] for opening in _OPENINGS for size in range(1, len(opening) + 1))
_ALIASES = re.compile(r"[A-Za-z]+\d+")
_INTERESTING = re.compile(r"[<`\\\n]")
_MARK = re.compile(r"</?(?:ref|kb|web|r?e?$|[kw]$|we$)", re.IGNORECASE)
_NAME_CHARS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-:")
_BLANKS = frozenset(" \t\r\n")


class StreamDecoder:
    """Feed it pieces, flush it once at the end. Text is given out as soon as it can't belong to a mark."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve
        self._code = CodeTracker()
        self._held = ""
        """A piece that may become the opening of a known tag."""
        self._tag: _Tag | None = None
        self._tail = ""
        self._guard = False

    def feed(self, text: str) -> str:
        """What can be shown after this piece; never part of a tag."""
        out: list[str] = []
        at = 0
        while at < len(text):
            if self._is_plain:
                found = _INTERESTING.search(text, at)
                end = found.start() if found else len(text)
                if end > at:
                    out.append(text[at:end])
                    at = end
                    continue
            self._step(text[at], out)
            at += 1
        return "".join(out)

    def flush(self) -> str:
        """What was held back and is plain text after all."""
        held, self._held = self._held, ""
        self._tag = None
        # A cut-off '<re' is a mark that never ended; a lone '<', '<k' or '</' is text.
        unfinished = held.lower() in _OPENINGS or held.lower().startswith(("<r", "</r"))
        return "" if unfinished else held

    @property
    def _is_plain(self) -> bool:
        """Whether text can pass whole up to the next character that means something."""
        return self._tag is None and not (self._held or self._tail or self._guard) and self._code.is_mid_line

    def _step(self, char: str, out: list[str]) -> None:
        if self._tag is not None:
            rest = self._tag.feed(char)
            if rest is None:
                return
            self._close(self._tag, out)
            for again in rest:
                self._step(again, out)
        elif self._held:
            self._opening(char, out)
        elif char == "<":
            self._held = char
        else:
            self._release(char, out)

    def _opening(self, char: str, out: list[str]) -> None:
        longer = (self._held + char).lower()
        if longer in _PREFIXES:
            self._held += char
            return
        held, self._held = self._held, ""
        if held.lower() in _OPENINGS and (char in _BLANKS or char in "/>"):
            self._tag = _Tag(held.lower())
            self._step(char, out)
            return
        if char == "<":
            # '<ref' with nothing behind it is an unfinished mark, not text.
            if held.lower() not in _OPENINGS:
                self._release(held, out)
            self._held = char
            return
        self._release(held + char, out)

    def _close(self, tag: _Tag, out: list[str]) -> None:
        self._tag = None
        self._code.end_run()
        shown = ""
        if tag.is_whole and tag.name == "<ref" and not self._code.inside:
            shown = "".join(self._resolve(alias.lower()) for alias in _ALIASES.findall(tag.id_value))
        if shown:
            self._tail = ""
            self._guard = False
            self._code.pass_tag()
            out.append(shown)
        else:
            self._guard = self._tail.lower() in _PREFIXES

    def _release(self, text: str, out: list[str]) -> None:
        for char in text:
            self._code.feed(char)
            if self._guard:
                # What was left out must not let its two sides grow together to a mark.
                self._guard = False
                if (self._tail + char).lower() in _PREFIXES:
                    out.append(" ")
                    self._tail = ""
            self._tail = char if char == "<" else self._tail + char if self._tail else ""
            if self._tail.lower() not in _PREFIXES:
                self._tail = ""
        out.append(text)


class _Tag:
    """Reads what follows '<ref' (or a tag of the model's own) up to its end, one character at a time."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.id_value = ""
        self.is_whole = False
        self._limit = MAX_HELD if name.endswith("ref") else MAX_FORGED
        self._read = len(name)
        self._attribute = ""
        self._pending = ""
        """A bare word that is text unless '=' follows."""
        self._quote = ""
        self._value = ""
        self._state = self._between

    def feed(self, char: str) -> str | None:
        """None while the tag goes on; else the text that is not part of it, which is to be read again."""
        self._read += 1
        if self._read > self._limit and char != ">":
            return self._pending + char
        return self._state(char)

    def _between(self, char: str) -> str | None:
        if char == ">":
            self.is_whole = True
            return ""
        if char in _BLANKS or char == "/":
            return None
        if char in _NAME_CHARS:
            self._pending = char
            self._state = self._name
            return None
        return char

    def _name(self, char: str) -> str | None:
        if char in _NAME_CHARS and len(self._pending) < MAX_HELD:
            self._pending += char
            return None
        if char == "=" or (char in _BLANKS and not self._pending.endswith(" ")):
            if char == "=":
                self._attribute, self._pending = self._pending.strip().lower(), ""
                self._state = self._before_value
            else:
                self._pending += char
                self._state = self._after_name
            return None
        return self._pending + char

    def _after_name(self, char: str) -> str | None:
        if char in _BLANKS:
            self._pending += char
            return None
        if char == "=":
            return self._name(char)
        return self._pending + char

    def _before_value(self, char: str) -> str | None:
        if char in _BLANKS:
            return None
        if char in "\"'":
            self._quote = char
            self._state = self._in_value
            return None
        if char in "<>/":
            return self._between(char) if char != "<" else char
        self._quote = ""
        self._value = char
        self._state = self._in_value
        return None

    def _in_value(self, char: str) -> str | None:
        if char == "<" or char == "\n":
            return char
        ends = char == self._quote if self._quote else (char in _BLANKS or char in "/>")
        if not ends:
            if char == ">":
                # An attribute that was never closed: the tag ends here, and nobody knows what it meant.
                return ""
            self._value += char
            return None
        if self._attribute == "id" and not self.id_value:
            self.id_value = self._value
        self._value, self._attribute = "", ""
        self._state = self._between
        return None if self._quote else self._between(char)


def expand(text: str, resolve: Resolve) -> str:
    """The whole text decoded at once."""
    decoder = StreamDecoder(resolve)
    return decoder.feed(text) + decoder.flush()


def without_marks(text: str) -> str:
    """Text from a document or the web with everything taken out that could pass for a mark or a citation."""
    if not _MARK.search(text):
        return text
    return expand(text, lambda alias: "")
