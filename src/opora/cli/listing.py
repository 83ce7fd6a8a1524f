"""Which files a path stands for, and under which name a base knows each."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of one path, and the folders below it that could not be read."""

    root: Path
    files: tuple[Path, ...]
    unreadable: tuple[tuple[Path, str], ...] = ()


def files_of(path: Path) -> Listing:
    """The file itself, or all files below the folder in a fixed order, without hidden ones and links that lead out."""
    if not path.is_dir():
        return Listing(path, (path,))
    found: list[Path] = []
    unreadable: list[tuple[Path, str]] = []

    def skip(error: OSError) -> None:
        unreadable.append((Path(os.fsdecode(error.filename)), error.strerror or "can't be read"))

    for folder, folders, names in os.walk(path, onerror=skip):
        folders[:] = sorted(name for name in folders if not _is_hidden(name))
        files = (Path(folder, name) for name in sorted(names) if not _is_hidden(name))
        found += (file for file in files if file.is_file() and file.resolve().is_relative_to(path))
    return Listing(path, tuple(found), tuple(unreadable))


def source_of(path: Path) -> str:
    """The path as text, also where its bytes are none: this is how the base knows the file."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "~$"))
