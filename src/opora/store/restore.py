"""Puts a backup in the place of a folder's data: read and checked beside it, then swapped in."""

from __future__ import annotations

import errno
import gzip
import json
import sqlite3
import tarfile
import zlib
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from opora.domain.errors import Conflict, InvalidInput, Unavailable
from opora.store.owner import FolderOwner
from opora.store.swap import BLOBS, DATABASES, NAMES, drop_stage, new_stage, swap_in

FORMAT = 1
MANIFEST = "opora-backup.json"
_DAMAGE = (tarfile.TarError, zlib.error, gzip.BadGzipFile, EOFError, ValueError, sqlite3.DatabaseError)
_STEP = 1 << 20


def read_backup(folder: Path, source: Path, *, force: bool) -> dict[str, Any]:
    """Put the backup in place; the data that were there go only when everything new is read, checked and on the disk.

    Raises `Busy` when a process works in the folder, `Conflict` when there are data and ``force`` is not given,
    `InvalidInput` for a file that is no whole backup, `Unavailable` when the disk does not do its part.
    """
    owner = FolderOwner.take(folder)
    try:
        if not force and any((folder / name).exists() for name in NAMES):
            raise Conflict(f"There is data in {folder} already.", hint="Use --force to put the backup in its place.")
        fresh = new_stage(folder)
        try:
            summary = _unpack(source, fresh)
            _check(summary, fresh)
            swap_in(folder, [item.name for item in fresh.iterdir()])
        finally:
            drop_stage(folder)
        return summary
    except _DAMAGE as exc:
        raise InvalidInput.of("source", f"{source} is not a whole backup of Opora: {exc}.") from exc
    except OSError as exc:
        if exc.errno is None:
            raise InvalidInput.of("source", f"{source} is not a whole backup of Opora: {exc}.") from exc
        hint = "Free some space and try again." if exc.errno == errno.ENOSPC else ""
        raise Unavailable(f"The backup can't be put in place: {exc.strerror}.", hint=hint) from exc
    finally:
        owner.release()


def _unpack(source: Path, target: Path) -> dict[str, Any]:
    """Reads the file to its last byte, where its checksum stands."""
    with gzip.open(source) as plain:
        with tarfile.open(fileobj=plain, mode="r:") as archive:
            first = archive.next()
            if first is None or first.name != MANIFEST or not first.isfile():
                raise InvalidInput.of("source", f"{source} is not a backup of Opora.")
            summary = _manifest(archive.extractfile(first), source)
            for entry in archive:
                if _is_ours(entry):
                    archive.extract(entry, target, filter="data")
        while plain.read(_STEP):
            pass
    return summary


def _manifest(file: IO[bytes] | None, source: Path) -> dict[str, Any]:
    summary = json.loads(file.read(_STEP)) if file else None
    if not isinstance(summary, dict) or summary.get("format") != FORMAT:
        raise InvalidInput.of("source", f"{source} was written by another version of Opora.")
    return summary


def _is_ours(entry: tarfile.TarInfo) -> bool:
    """Only the data itself, as plain files and folders: an archive from elsewhere brings nothing else in."""
    first = entry.name.partition("/")[0]
    return (entry.isfile() and entry.name in DATABASES) or (
        first == BLOBS and (entry.isdir() or entry.isfile()) and ".." not in entry.name.split("/")
    )


def _check(summary: dict[str, Any], fresh: Path) -> None:
    """Raises when the data are not what the manifest says or the database can't be read.

    The index is not looked at: its engine does that, and makes a damaged one anew from the database.
    """
    files = sum(path.is_file() for path in (fresh / BLOBS).rglob("*"))
    if files != summary.get("files") or not (fresh / DATABASES[0]).is_file():
        raise ValueError("files are missing")
    with closing(sqlite3.connect(fresh / DATABASES[0])) as database:
        verdict = database.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise ValueError(verdict)
        database.execute("SELECT count(*) FROM documents").fetchone()
