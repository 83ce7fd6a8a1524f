"""The index file: its tables, its opening, and what happens to a file that can't be used."""

from __future__ import annotations

import logging
from datetime import datetime
from pathlib import Path

import apsw

from opora.ports import Clock, NewId
from opora.text.terms import TERM_PUNCTUATION, TERMS_VERSION, index_terms

log = logging.getLogger(__name__)

SCHEMA_VERSION = 1
"""An index of another version is set aside and filled anew: nothing in it is the only copy."""

_TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE base (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant_id TEXT NOT NULL,
  base_id TEXT NOT NULL,
  terms_version TEXT NOT NULL,
  erased INTEGER NOT NULL DEFAULT 0,
  UNIQUE (tenant_id, base_id)
);
CREATE TABLE row (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  base INTEGER NOT NULL,
  chunk_id TEXT NOT NULL,
  document_id TEXT NOT NULL,
  chunk_type TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  length INTEGER NOT NULL,
  slot INTEGER
);
CREATE UNIQUE INDEX row_chunk ON row (base, chunk_id);
CREATE INDEX row_document ON row (base, document_id);
CREATE INDEX row_length ON row (base, id, length);
CREATE INDEX row_hidden ON row (base) WHERE enabled = 0;
CREATE UNIQUE INDEX row_slot ON row (slot) WHERE slot IS NOT NULL;
CREATE TABLE body (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE vector (
  slot INTEGER PRIMARY KEY AUTOINCREMENT,
  base INTEGER NOT NULL,
  dimension INTEGER NOT NULL,
  data BLOB NOT NULL
);
CREATE INDEX vector_base ON vector (base, dimension);
CREATE TABLE tag (
  id INTEGER NOT NULL,
  tag_id TEXT NOT NULL,
  PRIMARY KEY (id, tag_id)
) WITHOUT ROWID;
CREATE INDEX tag_row ON tag (tag_id, id);
"""
# A row whose text changes and a vector that changes get new numbers: what readers hold in memory is then brought up
# to date by 'everything above the last number', and `base.erased` counts the transactions that took something away.


def open_writer(path: Path, *, new_id: NewId, clock: Clock) -> apsw.Connection:
    """The writing connection on a sound file: made when missing, set aside and made anew when unusable."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        connection = _usable(path, new_id)
    except (apsw.NotADBError, apsw.CorruptError) as error:
        log.warning("The search index %s is damaged: %s", path, error)
        connection = None
    if connection is None:
        set_aside(path, clock())
        connection = _usable(path, new_id)
    if connection is None:  # pragma: no cover - a fresh file always has this version
        raise apsw.CorruptError(f"{path} can't be made anew")
    return connection


def open_reader(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(10_000)
    connection.pragma("cache_size", -16_384)
    return connection


def mark_damaged(path: Path) -> None:
    """Note beside the file that it is damaged, so that the next start sets it aside."""
    _mark(path).touch()


def set_aside(path: Path, now: datetime) -> None:
    """Move the file out of the way, keeping it for whoever wants to look."""
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    kept = path.with_name(f"{path.name}.damaged-{now:%Y%m%dT%H%M%S%f}")
    if path.exists():
        path.rename(kept)
    log.warning("The search index was set aside as %s and will be filled anew.", kept)
    _mark(path).unlink(missing_ok=True)


def _mark(path: Path) -> Path:
    return path.with_name(path.name + ".is-damaged")


def _usable(path: Path, new_id: NewId) -> apsw.Connection | None:
    """A connection to the file, or None when it is marked as damaged or has another version."""
    if _mark(path).exists():
        return None
    connection = apsw.Connection(str(path))
    try:
        connection.set_busy_timeout(10_000)
        if connection.pragma("user_version") == 0 and not connection.execute("SELECT 1 FROM sqlite_schema").fetchall():
            _create(connection, new_id)
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "normal")
        connection.pragma("cache_size", -32_768)
        if connection.pragma("user_version") != SCHEMA_VERSION:
            log.warning("The search index %s is of another version.", path)
            connection.close()
            return None
        connection.execute("SELECT count(*) FROM base").fetchall()
        _rebuild_words(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _create(connection: apsw.Connection, new_id: NewId) -> None:
    connection.pragma("page_size", 8192)
    connection.pragma("journal_mode", "wal")
    with connection:
        connection.execute(_TABLES)
        connection.execute("INSERT INTO meta VALUES ('generation', ?)", (new_id(),))
        connection.pragma("user_version", SCHEMA_VERSION)


def create_words(connection: apsw.Connection, base: int) -> None:
    """The full-text table of one base, and the view of its terms that the keyword arm reads."""
    connection.execute(
        f"CREATE VIRTUAL TABLE words_{base} USING fts5(terms, content='', contentless_delete=1, "
        f"tokenize=\"ascii tokenchars '{TERM_PUNCTUATION}'\")"
    )
    connection.execute(f"CREATE VIRTUAL TABLE terms_{base} USING fts5vocab(words_{base}, instance)")


def drop_words(connection: apsw.Connection, base: int) -> None:
    connection.execute(f"DROP TABLE terms_{base}")
    connection.execute(f"DROP TABLE words_{base}")


def outdated_bases(connection: apsw.Connection) -> list[int]:
    """Bases whose words were made by another version of the terms."""
    found = connection.execute("SELECT key FROM base WHERE terms_version <> ? ORDER BY key", (TERMS_VERSION,))
    return [key for (key,) in found]


def _rebuild_words(connection: apsw.Connection) -> None:
    for base in outdated_bases(connection):
        log.warning("The keyword index of base %d is of another version and is made again.", base)
        with connection:
            drop_words(connection, base)
            create_words(connection, base)
            ids = [key for (key,) in connection.execute("SELECT id FROM row WHERE base = ?", (base,))]
            for key in ids:
                text = connection.execute("SELECT text FROM body WHERE id = ?", (key,)).get
                length = write_words(connection, base, key, text)
                connection.execute("UPDATE row SET length = ? WHERE id = ?", (length, key))
            connection.execute(
                "UPDATE base SET terms_version = ?, erased = erased + 1 WHERE key = ?", (TERMS_VERSION, base)
            )


def write_words(connection: apsw.Connection, base: int, key: int, text: str) -> int:
    """Write the terms of a text under its row number; returns how many they are."""
    terms = index_terms(text)
    connection.execute(f"INSERT INTO words_{base} (rowid, terms) VALUES (?, ?)", (key, " ".join(terms)))
    return len(terms)
