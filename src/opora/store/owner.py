"""The one owner of a data folder: a lock that dies with its process, and a note that says where the owner serves."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import IO, Self

from opora.domain.errors import Busy, Unavailable
from opora.store import swap

LOCK_NAME = "owner.lock"
PROBE_RETRIES = 5
PROBE_SECONDS = 0.01


class FolderOwner:
    """Holds the lock of a data folder. The kernel lets it go when the process dies, however it dies."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    @classmethod
    def take(cls, folder: Path) -> Self:
        """Make the folder where needed, lock it, and end a restore that was cut short.

        Raises `Busy` when another process has the folder, `Unavailable` when it can't be used.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = (folder / LOCK_NAME).open("a+", encoding="utf-8")
        except OSError as exc:
            raise _unusable(folder, exc) from exc
        if not _lock_patiently(file):
            file.close()
            raise Busy(
                f"Another process is working in {folder}.",
                hint="Wait until it ends, or set OPORA_DATA to another folder.",
            )
        owner = cls(file)
        try:
            owner.announce("")
            swap.finish(folder)
        except OSError as exc:
            file.close()
            raise _unusable(folder, exc) from exc
        return owner

    def announce(self, address: str) -> None:
        """Note where this process can be reached; '' when it does not serve."""
        self._file.seek(0)
        self._file.truncate()
        json.dump({"pid": os.getpid(), "address": address}, self._file)
        self._file.flush()

    def release(self) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._file.close()


def serving_at(folder: Path) -> str:
    """The address at which the folder's owner serves; '' when nobody owns it or its owner does not serve."""
    try:
        file = (folder / LOCK_NAME).open("r+", encoding="utf-8")
    except OSError:
        return ""
    with file:
        if lock(file.fileno()):
            return ""
        try:
            return str(json.load(file)["address"])
        except (ValueError, KeyError, TypeError):
            return ""


def lock(handle: int) -> bool:
    """Try to lock an open file or folder without waiting; the lock ends with the handle."""
    if sys.platform == "win32":
        raise Unavailable("Opora runs on Linux and macOS.", hint="On Windows use WSL.")
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _unusable(folder: Path, error: OSError) -> Unavailable:
    return Unavailable(
        f"The data folder {folder} can't be used: {error.strerror}.",
        hint="Set OPORA_DATA to a folder that you may write to.",
    )


def _lock_patiently(file: IO[str]) -> bool:
    """`serving_at` holds the lock for a moment to see whether it is free; that must not look like an owner."""
    for _ in range(PROBE_RETRIES):
        if lock(file.fileno()):
            return True
        time.sleep(PROBE_SECONDS)
    return lock(file.fileno())
