"""Follows Markdown code (fences and inline spans) through a text, one character at a time."""

from __future__ import annotations

import re

_BLANKS = " \t\r"
_PREFIX_CHARS = frozenset(" \t\r>-*+0123456789.)")
"""What may stand before the opening of a fence: indentation, a quotation, a list item."""
_LIST_ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]")


class CodeTracker:
    """Says whether the text read so far ends inside code; it never needs to look ahead.

    A fence opens and closes at the start of a line; an inline span closes at a run of as many backticks, and ends
    with its paragraph when that run never comes.
    """

    def __init__(self) -> None:
        self._fence = ""
        """The run that opened the fence, such as '```'."""
        self._in_info = False
        self._span = 0
        """Backticks that opened the inline span."""
        self._run = ""
        self._run_prefix: str | None = None
        self._prefix: str | None = ""
        """The line so far while it holds nothing but what may stand before a fence."""
        self._escaped = False
        self._closing = False
        """The line so far is a fence's closing run; only blanks may follow."""

    @property
    def inside(self) -> bool:
        """Whether a mark at this place stands in code; ask after `end_run`."""
        return bool(self._fence or self._span)

    @property
    def is_mid_line(self) -> bool:
        """Whether plain characters (no backtick, backslash or line end) would change nothing."""
        return self._prefix is None and not (self._run or self._escaped or self._closing)

    def feed(self, char: str) -> None:
        if self._run and char == self._run[0]:
            self._run += char
            return
        self.end_run()
        if char == "\n":
            self._end_line()
            return
        if self._closing and char not in _BLANKS:
            self._closing = False
        if char == "`" or (char == "~" and self._prefix is not None):
            self._begin_run(char)
        self._escaped = char == "\\" and not self._escaped
        self._grow_prefix(char)

    def end_run(self) -> None:
        """Let a run of backticks take effect: it ended, or a mark stands behind it."""
        run, self._run = self._run, ""
        if not run:
            return
        at_start, starts_line = self._run_prefix is not None, not (self._run_prefix or "").strip(_BLANKS + ">")
        if self._fence and not self._in_info:
            self._closing = at_start and starts_line and run[0] == self._fence[0] and len(run) >= len(self._fence)
        elif self._fence:
            if run[0] == "`" == self._fence[0]:
                # Backticks in the info string: it was an inline span that began a line, not a fence.
                opened, self._fence, self._in_info = len(self._fence), "", False
                self._span = 0 if len(run) == opened else opened
        elif self._span and len(run) == self._span and run[0] == "`":
            self._span = 0
        elif at_start and len(run) >= 3:
            self._fence, self._in_info, self._span = run, True, 0
        elif run[0] == "`" and not self._span:
            self._span = len(run)

    def pass_tag(self) -> None:
        """A public tag was shown here: the line is no longer blank."""
        self._prefix, self._escaped = None, False

    def _begin_run(self, char: str) -> None:
        if self._escaped and not self.inside:
            return
        self._run, self._run_prefix = char, self._prefix

    def _grow_prefix(self, char: str) -> None:
        if self._prefix is None:
            return
        if char in _PREFIX_CHARS:
            self._prefix += char
            if self._span and _LIST_ITEM.fullmatch(self._prefix):
                self._span = 0
        else:
            self._prefix = None

    def _end_line(self) -> None:
        if self._closing:
            self._fence, self._closing = "", False
        self._in_info = False
        if self._prefix is not None and not self._prefix.strip(_BLANKS + ">"):
            self._span = 0
        self._prefix = ""
        self._escaped = False
