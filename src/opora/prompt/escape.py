"""Makes text from outside harmless inside the prompt's tags: it can neither close a tag nor open one."""

from __future__ import annotations

_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_ATTRIBUTE = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": " ", "\r": " ", "\t": " "})


def escape_text(text: str) -> str:
    return text.translate(_TEXT)


def escape_attribute(text: str) -> str:
    """For a value between double quotes, on one line."""
    return text.translate(_ATTRIBUTE)
