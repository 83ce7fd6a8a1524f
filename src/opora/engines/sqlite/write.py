"""Everything that changes the index; each function runs inside one transaction of the writing thread."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import apsw

from opora.engines.sqlite import schema
from opora.engines.sqlite.rows import fetch
from opora.text.terms import TERMS_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A row as it is written: text without NUL and lone surrogates, the vector of length 1 or absent."""

    chunk_id: str
    document_id: str
    chunk_type: str
    text: str
    enabled: bool
    tag_ids: tuple[str, ...]
    vector: bytes | None
    dimension: int


def base_key(connection: apsw.Connection, tenant_id: str, base_id: str) -> int | None:
    key: int | None = connection.execute(
        "SELECT key FROM base WHERE tenant_id = ? AND base_id = ?", (tenant_id, base_id)
    ).get
    return key


def make_base(connection: apsw.Connection, tenant_id: str, base_id: str) -> int:
    """The number of a base, which gets its full-text table with its first row."""
    key = base_key(connection, tenant_id, base_id)
    if key is None:
        connection.execute(
            "INSERT INTO base (tenant_id, base_id, terms_version) VALUES (?, ?, ?)", (tenant_id, base_id, TERMS_VERSION)
        )
        key = connection.last_insert_rowid()
        schema.create_words(connection, key)
    return key


def upsert(connection: apsw.Connection, base: int, rows: Iterable[Stored]) -> None:
    """Insert rows or replace them by chunk id; a row equal to what is stored changes nothing."""
    erased = False
    for row in rows:
        found = connection.execute(
            "SELECT r.id, r.slot, b.text FROM row AS r JOIN body AS b ON b.id = r.id "
            "WHERE r.base = ? AND r.chunk_id = ?",
            (base, row.chunk_id),
        ).fetchone()
        if found is not None and found[2] != row.text:
            _remove(connection, base, [found[0]])
            erased, found = True, None
        if found is None:
            _insert(connection, base, row)
        else:
            erased |= _update(connection, base, found[0], found[1], row)
    if erased:
        _count_erased(connection, base)


def _insert(connection: apsw.Connection, base: int, row: Stored) -> None:
    slot = None if row.vector is None else _insert_vector(connection, base, row.vector, row.dimension)
    connection.execute(
        "INSERT INTO row (base, chunk_id, document_id, chunk_type, enabled, length, slot) VALUES (?, ?, ?, ?, ?, 0, ?)",
        (base, row.chunk_id, row.document_id, row.chunk_type, int(row.enabled), slot),
    )
    key = connection.last_insert_rowid()
    length = schema.write_words(connection, base, key, row.text)
    connection.execute("UPDATE row SET length = ? WHERE id = ?", (length, key))
    connection.execute("INSERT INTO body VALUES (?, ?)", (key, row.text))
    connection.executemany("INSERT INTO tag VALUES (?, ?)", [(key, tag) for tag in dict.fromkeys(row.tag_ids)])


def _update(connection: apsw.Connection, base: int, key: int, slot: int | None, row: Stored) -> bool:
    """Bring a row of the same text up to date; True when that took a vector away."""
    old_slot, erased = slot, False
    if row.vector is not None:
        stored = connection.execute("SELECT dimension, data FROM vector WHERE slot = ?", (slot,)).fetchone()
        if stored != (row.dimension, row.vector):
            slot = _insert_vector(connection, base, row.vector, row.dimension)
            erased = old_slot is not None
    connection.execute(
        "UPDATE row SET document_id = ?, chunk_type = ?, enabled = ?, slot = ? WHERE id = ?",
        (row.document_id, row.chunk_type, int(row.enabled), slot, key),
    )
    if erased:
        connection.execute("DELETE FROM vector WHERE slot = ?", (old_slot,))
    _replace_tags(connection, key, row.tag_ids)
    return erased


def _insert_vector(connection: apsw.Connection, base: int, vector: bytes, dimension: int) -> int:
    connection.execute("INSERT INTO vector (base, dimension, data) VALUES (?, ?, ?)", (base, dimension, vector))
    return connection.last_insert_rowid()


def _replace_tags(connection: apsw.Connection, key: int, tag_ids: Iterable[str]) -> None:
    wanted = set(tag_ids)
    stored = {tag for (tag,) in connection.execute("SELECT tag_id FROM tag WHERE id = ?", (key,))}
    if wanted != stored:
        connection.execute("DELETE FROM tag WHERE id = ?", (key,))
        connection.executemany("INSERT INTO tag VALUES (?, ?)", [(key, tag) for tag in sorted(wanted)])


def delete_chunks(connection: apsw.Connection, base: int, chunk_ids: Collection[str]) -> None:
    _erase(connection, base, "chunk_id IN (SELECT value FROM json_each(?))", (json.dumps(sorted(chunk_ids)),))


def delete_documents(connection: apsw.Connection, base: int, document_ids: Collection[str]) -> None:
    _erase(connection, base, "document_id IN (SELECT value FROM json_each(?))", (json.dumps(sorted(document_ids)),))


def delete_base(connection: apsw.Connection, base: int) -> None:
    schema.drop_words(connection, base)
    for table in ("body", "tag"):
        connection.execute(f"DELETE FROM {table} WHERE id IN (SELECT id FROM row WHERE base = ?)", (base,))
    connection.execute("DELETE FROM vector WHERE base = ?", (base,))
    connection.execute("DELETE FROM row WHERE base = ?", (base,))
    connection.execute("DELETE FROM base WHERE key = ?", (base,))


def _erase(connection: apsw.Connection, base: int, where: str, bindings: tuple[str, ...]) -> None:
    ids = [key for (key,) in connection.execute(f"SELECT id FROM row WHERE base = ? AND {where}", (base, *bindings))]
    if ids:
        _remove(connection, base, ids)
        _count_erased(connection, base)


def _remove(connection: apsw.Connection, base: int, ids: Sequence[int]) -> None:
    for key in ids:
        connection.execute("DELETE FROM vector WHERE slot = (SELECT slot FROM row WHERE id = ?)", (key,))
        connection.execute(f"DELETE FROM words_{base} WHERE rowid = ?", (key,))
        for table in ("tag", "body", "row"):
            connection.execute(f"DELETE FROM {table} WHERE id = ?", (key,))


def _count_erased(connection: apsw.Connection, base: int) -> None:
    connection.execute("UPDATE base SET erased = erased + 1 WHERE key = ?", (base,))


def set_enabled(connection: apsw.Connection, base: int, enabled: Mapping[str, bool]) -> None:
    connection.executemany(
        "UPDATE row SET enabled = ? WHERE base = ? AND chunk_id = ?",
        [(int(on), base, chunk_id) for chunk_id, on in enabled.items()],
    )


def set_tags(connection: apsw.Connection, base: int, tags: Mapping[str, Sequence[str]]) -> None:
    for chunk_id, tag_ids in tags.items():
        key = connection.execute("SELECT id FROM row WHERE base = ? AND chunk_id = ?", (base, chunk_id)).get
        if key is not None:
            _replace_tags(connection, key, tag_ids)


def copy_base(
    connection: apsw.Connection,
    source: int,
    target: int,
    chunk_ids: Mapping[str, str],
    document_ids: Mapping[str, str],
) -> None:
    """Copy rows under the mapped ids; a document without a mapped id keeps its own."""
    upsert(connection, target, _copies(connection, source, chunk_ids, document_ids))


def _copies(
    connection: apsw.Connection, source: int, chunk_ids: Mapping[str, str], document_ids: Mapping[str, str]
) -> Iterable[Stored]:
    for old_id, new_id in sorted(chunk_ids.items()):
        row = connection.execute(
            "SELECT r.id, r.document_id, r.chunk_type, b.text, r.enabled, v.data, v.dimension FROM row AS r "
            "JOIN body AS b ON b.id = r.id LEFT JOIN vector AS v ON v.slot = r.slot "
            "WHERE r.base = ? AND r.chunk_id = ?",
            (source, old_id),
        ).fetchone()
        if row is None:
            continue
        key, document_id, chunk_type, text, enabled, vector, dimension = row
        tags = fetch(connection, "SELECT tag_id FROM tag WHERE id = ? ORDER BY tag_id", (key,))
        yield Stored(
            chunk_id=new_id,
            document_id=document_ids.get(document_id, document_id),
            chunk_type=chunk_type,
            text=text,
            enabled=bool(enabled),
            tag_ids=tuple(tag for (tag,) in tags),
            vector=vector,
            dimension=dimension or 0,
        )
