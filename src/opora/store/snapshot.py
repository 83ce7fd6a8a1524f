"""Copies a living data folder as of one moment, without keeping its owner waiting for longer than it takes to look."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from opora.store.swap import BLOBS, DATABASES

MAIN, INDEX = DATABASES
LOCK_SECONDS = 30.0
_UNDER_WAY = ".part"
_DOCUMENTS = (
    "SELECT document_id, version, indexed_version, parse_status FROM documents"
    " WHERE parse_status != 'deleting' ORDER BY document_id"
)
Row = tuple[str, int, int, str]


def snapshot(folder: Path, data: Path, *, hold: bool) -> dict[str, int] | None:
    """Copy into ``data``; None when files went away before they were linked, which can't be when ``hold`` keeps
    writers waiting for that long.

    The index is looked at while nobody may write to the main database. Work on it is done before the main database is
    told, and can be done twice: so the pair is one that a crash might have left, which every start puts right.
    """
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir(mode=0o700)
    with ExitStack() as stack:
        main = stack.enter_context(_reader(folder / MAIN))
        writers = stack.enter_context(ExitStack())
        writers.enter_context(_writers_held(folder / MAIN))
        _look(main)
        index = _open_index(folder / INDEX, stack)
        if not hold:
            writers.close()
        files = _link_all(folder / BLOBS, data / BLOBS)
        documents: list[Row] = main.execute(_DOCUMENTS).fetchall()
        missing = [row for row in documents if not _needed(row) <= files.get(row[0], frozenset())]
        if missing and not hold and set(missing) - set(_now(folder / MAIN)):
            return None
        writers.close()
        _copy(main, data / MAIN)
        if index is not None:
            _copy(index, data / INDEX)
    return {"documents": len(documents), "files": sum(map(len, files.values())), "missing": len(missing)}


@contextmanager
def _reader(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, timeout=LOCK_SECONDS, isolation_level=None)) as connection:
        yield connection


@contextmanager
def _writers_held(path: Path) -> Iterator[None]:
    with _reader(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            connection.execute("ROLLBACK")


def _look(connection: sqlite3.Connection) -> None:
    """From here on the connection sees this moment, whatever others write."""
    connection.execute("BEGIN")
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()


def _open_index(path: Path, stack: ExitStack) -> sqlite3.Connection | None:
    """None without a usable index: it is made anew from the main database after a restore."""
    if not path.exists():
        return None
    connection = stack.enter_context(_reader(path))
    try:
        _look(connection)
    except sqlite3.DatabaseError:
        return None
    return connection


def _copy(source: sqlite3.Connection, target: Path) -> None:
    with closing(sqlite3.connect(target)) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # one file that is whole by itself


def _now(path: Path) -> list[Row]:
    with _reader(path) as connection:
        return connection.execute(_DOCUMENTS).fetchall()


def _needed(row: Row) -> frozenset[str]:
    """What later steps read of a document: its newest bytes, and bytes and text of the version that is searched."""
    _, version, indexed, _ = row
    names = {f"{version}.original"}
    if indexed:
        names |= {f"{indexed}.original", f"{indexed}.text"}
    return frozenset(names)


def _link_all(source: Path, target: Path) -> dict[str, frozenset[str]]:
    """Link or copy every stored file; the names that were there, by document."""
    found: dict[str, frozenset[str]] = {}
    for folder, _, names in os.walk(source):
        there = Path(folder)
        copied = target / there.relative_to(source)
        kept = [name for name in names if not name.endswith(_UNDER_WAY)]
        if kept:
            copied.mkdir(parents=True, exist_ok=True)
            found[there.name] = frozenset(name for name in kept if _link(there / name, copied / name))
    return found


def _link(source: Path, target: Path) -> bool:
    """Files are never changed in place, so a link is as good as a copy; False when it is gone."""
    try:
        target.hardlink_to(source)
    except FileNotFoundError:
        return False
    except OSError:
        try:
            shutil.copyfile(source, target)
        except FileNotFoundError:
            target.unlink(missing_ok=True)
            return False
    return True
