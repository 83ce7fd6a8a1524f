"""Folders of documents as they are kept: names joined by '/', and never a path of any disk."""

from __future__ import annotations

import re

from opora.text.names import clean_label

MAX_FOLDER_CHARS = 1_000
MAX_DEPTH = 30
_SEPARATORS = re.compile(r"[/\\]")


def clean_folder(text: str) -> str:
    """Cleaned names joined by '/', without empty ones, '.' and '..'; raises `ValueError` for too long or deep ones."""
    names = [name for part in _SEPARATORS.split(text) if (name := clean_label(part)) not in ("", ".", "..")]
    folder = "/".join(names)
    if len(folder) > MAX_FOLDER_CHARS:
        raise ValueError(f"A folder's path holds at most {MAX_FOLDER_CHARS:,} characters.")
    if len(names) > MAX_DEPTH:
        raise ValueError(f"Folders nest at most {MAX_DEPTH} levels deep.")
    return folder


def is_within(folder: str, outer: str) -> bool:
    """Whether ``folder`` is ``outer`` or lies inside; everything lies inside ''."""
    return not outer or folder == outer or folder.startswith(outer + "/")
