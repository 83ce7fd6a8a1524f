"""Short aliases for the long handles of stored things, which models misspell when they repeat them.

``minio://bucket/9f86d081…/p.png`` goes to the model as ``res://0001`` and comes back as it was, wherever the stream was
cut. An alias that was never given is left out.
"""

from __future__ import annotations

import re

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_ESCAPED_MARK = r"&(?:lt|gt|quot);"
"""A mark around a handle, as prompts write it."""
_INSIDE = rf"(?:(?!{_ESCAPED_MARK})[^\s<>()\[\]\"'`|\\])"
_LAST = rf"(?:&amp;|(?!{_ESCAPED_MARK})[^\s<>()\[\]\"'`|\\.,;:!?*~&])"
_HANDLE = re.compile(
    r"(?<![A-Za-z0-9+.-])(?:"
    rf"(?:resource|minio|cos|oss|s3|tos|obs|local)://{_INSIDE}*{_LAST}"
    rf"|summary/{_UUID}"
    r"|res://\d{4,8}(?!\d)"
    r")",
    re.IGNORECASE,
)
"""Handles of object stores, names of wiki summaries, and what a text itself writes like one of our aliases."""
_ALIAS = re.compile(r"(?<![A-Za-z0-9])res://(\d{4,8})(?!\d)")
_UNFINISHED = re.compile(r"(?<![A-Za-z0-9])(?:res://\d{0,8}|res:/|res:|res|re|r)\Z")


class Resources:
    """The aliases of one answer; a handle keeps the alias that it was given first."""

    def __init__(self) -> None:
        self._aliases: dict[str, str] = {}
        self._handles: dict[str, str] = {}

    def encode(self, text: str) -> str:
        """The text with an alias in the place of each handle."""
        return _HANDLE.sub(lambda match: self._alias(match[0]), text) if "/" in text else text

    def restore(self, text: str) -> str:
        """The text with the handles back; aliases that nobody gave are left out."""
        return _ALIAS.sub(lambda match: self._handles.get(match[1], ""), text) if "res://" in text else text

    def decoder(self) -> ResourceDecoder:
        return ResourceDecoder(self)

    def _alias(self, handle: str) -> str:
        # Prompts escape what they quote; readers get the handle as it is stored.
        handle = handle.replace("&amp;", "&")
        number = self._aliases.get(handle)
        if number is None:
            number = f"{len(self._aliases) + 1:04}"
            self._aliases[handle] = number
            self._handles[number] = handle
        return f"res://{number}"


class ResourceDecoder:
    """Restores a stream piece by piece: what may be the beginning of an alias is held back until its end is seen."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._held = ""
        self._before = " "
        """Stands for the character given out last: a digit for a word's, since no alias begins inside a word."""

    def feed(self, text: str) -> str:
        whole = self._before + self._held + text
        unfinished = _UNFINISHED.search(whole, max(0, len(whole) - _LONGEST))
        end = unfinished.start() if unfinished else len(whole)
        return self._out(whole[:end], whole[end:])

    def flush(self) -> str:
        """What was held back: an alias at the very end, or the beginning of a word after all."""
        return self._out(self._before + self._held, "")

    def _out(self, settled: str, held: str) -> str:
        self._held = held
        self._before = "0" if settled[-1].isascii() and settled[-1].isalnum() else " "
        return self._resources.restore(settled)[1:]


_LONGEST = len("res://") + 8 + 1
"""Characters from the one before an alias to its end."""
