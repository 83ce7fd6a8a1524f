"""The whole data folder in one file: both databases as of one moment, then the files that documents came in."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from opora.domain.errors import InvalidInput, NotFound, Unavailable
from opora.store.owner import lock
from opora.store.restore import FORMAT, MANIFEST, read_backup
from opora.store.snapshot import snapshot
from opora.store.swap import DATABASES, sync_folder

__all__ = ["read_backup", "write_backup"]

STAGE_PREFIX = ".backup-"
TRIES = 3
"""The last one keeps writers waiting while files are linked, so that it can't fail as the others may."""


def write_backup(folder: Path, target: Path) -> dict[str, Any]:
    """Write ``target`` (a gzipped tar), whole or not at all, while the owner of the folder may go on working.

    Raises `NotFound` without data, `InvalidInput` for a target that is a folder, `Unavailable` when reading or writing
    fails. The summary counts ``documents``, ``files``, ``bytes``, and ``missing`` files that the folder itself lacks.
    """
    if not (folder / DATABASES[0]).exists():
        raise NotFound(f"There is nothing to back up in {folder}.", hint="Is OPORA_DATA the right folder?")
    if target.is_dir():
        raise InvalidInput.of("target", f"{target} is a folder.", hint="Name the file to write, such as opora.tar.gz.")
    try:
        with _stage(folder) as stage:
            data = stage / "data"
            for last in (False,) * (TRIES - 1) + (True,):
                taken = snapshot(folder, data, hold=last)
                if taken is not None:
                    break
            assert taken is not None, "with writers held off nothing goes away"
            summary = {"format": FORMAT, **taken, "created_at": datetime.now(UTC).isoformat()}
            return {**summary, "bytes": _write(data, target, summary)}
    except sqlite3.Error as exc:
        raise Unavailable(f"The database can't be copied: {exc}.", hint="Try again; `opora doctor` says more.") from exc
    except OSError as exc:
        where = exc.filename or target
        raise Unavailable(f"The backup can't be written: {where}: {exc.strerror}.", hint="Is the disk full?") from exc


@contextmanager
def _stage(folder: Path) -> Iterator[Path]:
    """A folder beside the data, where files can be linked rather than copied. What killed backups left goes first."""
    for left in folder.glob(f"{STAGE_PREFIX}*"):
        _remove_unless_used(left)
    with tempfile.TemporaryDirectory(dir=folder, prefix=STAGE_PREFIX) as name:
        handle = os.open(name, os.O_RDONLY)
        try:
            lock(handle)
            yield Path(name)
        finally:
            os.close(handle)


def _remove_unless_used(stage: Path) -> None:
    import shutil

    try:
        handle = os.open(stage, os.O_RDONLY)
    except OSError:
        return
    try:
        if lock(handle):
            shutil.rmtree(stage, ignore_errors=True)
    finally:
        os.close(handle)


def _write(data: Path, target: Path, summary: dict[str, Any]) -> int:
    """Under another name in the target's own folder first, to the disk, then renamed. Readable by the owner only."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            _pack(data, file, summary)
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        Path(part).replace(target)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
    sync_folder(target.parent)
    return size


def _pack(data: Path, file: Any, summary: dict[str, Any]) -> None:
    with tarfile.open(fileobj=file, mode="w:gz", compresslevel=1, dereference=True) as archive:
        manifest = json.dumps(summary).encode()
        entry = tarfile.TarInfo(MANIFEST)
        entry.size, entry.mode = len(manifest), 0o600
        archive.addfile(entry, io.BytesIO(manifest))
        for item in sorted(data.iterdir()):
            archive.add(item, arcname=item.name, filter=_anonymous)


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Whose files these were on this machine is nobody's business on another."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry
