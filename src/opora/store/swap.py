"""Puts new data in the place of a folder's old data so that a crash at any moment leaves the one or the other."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

DATABASES = ("opora.db", "index.db")
BLOBS = "blobs"
STAGE = ".restore"
"""Below the data folder, so that everything moves by renaming."""
_DECIDED = "decided.json"
_SIDE_FILES = ("", "-wal", "-shm", "-journal", ".is-damaged")
NAMES = (BLOBS, *(name + end for name in DATABASES for end in _SIDE_FILES))


def new_stage(folder: Path) -> Path:
    """An empty folder for the new data, to be filled and then handed to `swap_in`."""
    shutil.rmtree(folder / STAGE, ignore_errors=True)
    fresh = folder / STAGE / "new"
    fresh.mkdir(parents=True, mode=0o700)
    return fresh


def drop_stage(folder: Path) -> None:
    """Forget new data that were not swapped in."""
    if not (folder / STAGE / _DECIDED).exists():
        shutil.rmtree(folder / STAGE, ignore_errors=True)


def swap_in(folder: Path, names: Iterable[str]) -> None:
    """Take ``names`` from the stage; they are on the disk before the old data are touched.

    From the moment the note of the decision is written, the swap is carried to its end, be it at the next start.
    """
    os.sync()
    part = folder / STAGE / f"{_DECIDED}.part"
    with part.open("w", encoding="utf-8") as file:
        json.dump(sorted(names), file)
        file.flush()
        os.fsync(file.fileno())
    part.replace(folder / STAGE / _DECIDED)
    sync_folder(folder / STAGE)
    finish(folder)


def finish(folder: Path) -> None:
    """Carry a swap that was decided to its end, forget one that was not. Safe to repeat, under the folder's lock."""
    stage = folder / STAGE
    if not stage.exists():
        return
    note = stage / _DECIDED
    if note.exists():
        names = json.loads(note.read_text(encoding="utf-8"))
        old = stage / "old"
        old.mkdir(exist_ok=True)
        for name in NAMES:
            _swap(folder / name, stage / "new" / name, old / name, wanted=name in names)
        sync_folder(folder)
        note.unlink()
        sync_folder(stage)
    shutil.rmtree(stage, ignore_errors=True)


def _swap(live: Path, fresh: Path, old: Path, *, wanted: bool) -> None:
    if wanted and not fresh.exists():
        return  # in place already
    if live.exists():
        live.rename(old)
    if wanted:
        fresh.rename(live)


def sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
