"""The whole data folder in one file: databases copied by SQLite itself, then the original files."""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
import tarfile
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from opora.domain.errors import Conflict, InvalidInput, NotFound, Unavailable
from opora.store.owner import FolderOwner

FORMAT = 1
MANIFEST = "opora-backup.json"
DATABASES = ("opora.db", "index.db")
BLOBS = "blobs"
TRIES = 3


def write_backup(folder: Path, target: Path) -> dict[str, Any]:
    """Write ``target`` (a gzipped tar), whole or not at all, while the owner of the folder may go on working.

    Each database is a snapshot of one moment. Files are copied after it; one that was deleted in between makes the copy
    start again, so that every document in a backup has its file.
    """
    if not (folder / DATABASES[0]).exists():
        raise NotFound(f"There is nothing to back up in {folder}.", hint="Is OPORA_DATA the right folder?")
    target.parent.mkdir(parents=True, exist_ok=True)
    for _ in range(TRIES):
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".opora-backup-") as work:
            summary = _snapshot(folder, Path(work))
            if summary is None:
                continue
            packed = Path(work) / "packed.tar.gz"
            _pack(Path(work) / "data", packed, summary)
            packed.replace(target)
            return {**summary, "bytes": target.stat().st_size}
    raise Unavailable("Documents were deleted faster than they could be copied.", hint="Try again when it is quieter.")


def read_backup(folder: Path, source: Path, *, force: bool) -> dict[str, Any]:
    """Put a backup in place of the folder's data; raises `Conflict` when there is some and ``force`` is not given.

    The old data are moved aside until the new ones are whole, and come back when they are not.
    """
    owner = FolderOwner.take(folder)
    try:
        present = [name for name in (*DATABASES, BLOBS) if (folder / name).exists()]
        if present and not force:
            raise Conflict(f"There is data in {folder} already.", hint="Use --force to put the backup in its place.")
        with tempfile.TemporaryDirectory(dir=folder, prefix=".restore-") as work:
            fresh, old = Path(work) / "new", Path(work) / "old"
            old.mkdir()
            summary = _unpack(source, fresh)
            _clear(folder, old)
            try:
                for item in fresh.iterdir():
                    if item.name != MANIFEST:
                        item.rename(folder / item.name)
            except OSError:
                for item in old.iterdir():
                    item.rename(folder / item.name)
                raise
        return summary
    finally:
        owner.release()


def _snapshot(folder: Path, work: Path) -> dict[str, Any] | None:
    """Copy the data; None when a file that the snapshot names went away meanwhile."""
    data = work / "data"
    data.mkdir()
    for name in DATABASES:
        if (folder / name).exists():
            with closing(sqlite3.connect(folder / name)) as live, closing(sqlite3.connect(data / name)) as copy:
                live.backup(copy)
    with closing(sqlite3.connect(data / DATABASES[0])) as copy:
        documents = [
            str(row[0])
            for row in copy.execute("SELECT document_id FROM documents WHERE parse_status != 'deleting'").fetchall()
        ]
    if (folder / BLOBS).exists():
        try:
            shutil.copytree(folder / BLOBS, data / BLOBS, copy_function=_link_or_copy)
        except shutil.Error:
            return None
    present = {path.parent.name for path in (data / BLOBS).rglob("*") if path.is_file()}
    if any(document_id not in present for document_id in documents):
        return None
    return {"format": FORMAT, "documents": len(documents), "created_at": datetime.now(UTC).isoformat()}


def _link_or_copy(source: str, target: str) -> None:
    """Files are never changed in place, so a link is as good as a copy; one that is gone is looked for afterwards."""
    try:
        Path(target).hardlink_to(source)
    except FileNotFoundError:
        return
    except OSError:
        shutil.copy2(source, target)


def _pack(data: Path, target: Path, summary: dict[str, Any]) -> None:
    with tarfile.open(target, "w:gz", compresslevel=1) as archive:
        manifest = json.dumps(summary).encode()
        entry = tarfile.TarInfo(MANIFEST)
        entry.size = len(manifest)
        archive.addfile(entry, io.BytesIO(manifest))
        for item in sorted(data.iterdir()):
            archive.add(item, arcname=item.name)


def _unpack(source: Path, target: Path) -> dict[str, Any]:
    try:
        with tarfile.open(source, "r:gz") as archive:
            archive.extractall(target, filter="data")
        summary = json.loads((target / MANIFEST).read_bytes())
    except (tarfile.TarError, OSError, EOFError, ValueError) as exc:
        raise InvalidInput.of("source", f"{source} is not a whole backup of Opora: {exc}.") from exc
    if summary.get("format") != FORMAT:
        raise InvalidInput.of("source", f"{source} was written by another version of Opora.")
    return dict(summary)


def _clear(folder: Path, aside: Path) -> None:
    """Move the present data aside, with the side files of the databases."""
    names = [BLOBS, *(name + end for name in DATABASES for end in ("", "-wal", "-shm"))]
    for name in names:
        if (folder / name).exists():
            (folder / name).rename(aside / name)
