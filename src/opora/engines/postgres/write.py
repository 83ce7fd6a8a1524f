"""Everything that changes the index; each function runs inside one transaction that holds the row of its base."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from opora.text.terms import TERMS_VERSION, index_terms, spaced

REBUILD_ROWS = 500
MAX_WORDED = 100_000
"""Characters of a text that the server's own full text search sees: it refuses rows of more than a megabyte."""

_CHANGED = (
    "(e.document_id, e.chunk_type, e.enabled, e.tag_ids, e.digest) IS DISTINCT FROM"
    " (excluded.document_id, excluded.chunk_type, excluded.enabled, excluded.tag_ids, excluded.digest)"
    " OR (excluded.embedding IS NOT NULL AND e.embedding IS DISTINCT FROM excluded.embedding)"
)
_KEEPS_VECTOR = "excluded.embedding IS NULL AND e.digest = excluded.digest"
_COLUMNS = "base, chunk_id, document_id, chunk_type, enabled, tag_ids, length, tally, digest, dimension, embedding"
_REPLACE = (
    "ON CONFLICT (base, chunk_id) DO UPDATE SET document_id = excluded.document_id, chunk_type = excluded.chunk_type,"
    " enabled = excluded.enabled, tag_ids = excluded.tag_ids, length = excluded.length, tally = excluded.tally,"
    f" digest = excluded.digest, dimension = CASE WHEN {_KEEPS_VECTOR} THEN e.dimension ELSE excluded.dimension END,"
    f" embedding = CASE WHEN {_KEEPS_VECTOR} THEN e.embedding ELSE excluded.embedding END WHERE {_CHANGED}"
)
"""A row equal to what is stored changes nothing; one without a vector keeps the vector of the same text."""
_KEEP_TEXT = (
    "ON CONFLICT (id) DO UPDATE SET text = excluded.text, words = excluded.words WHERE texts.text <> excluded.text"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A row as it is written: text without NUL and lone surrogates, the vector of length 1 or absent."""

    chunk_id: str
    document_id: str
    chunk_type: str
    text: str
    enabled: bool
    tag_ids: tuple[str, ...]
    vector: npt.NDArray[np.float32] | None
    terms: Counter[str]


def tally_key(base: int | str, term: str) -> str:
    return f"{base}.{term}"


def tallied(text: str) -> Counter[str]:
    return Counter(index_terms(text))


def _all_tallied(texts: Sequence[str]) -> list[Counter[str]]:
    return [tallied(text) for text in texts]


def worded(text: str) -> str:
    """The text as the server's own full text search sees it."""
    return spaced(text)[:MAX_WORDED]


def _all_worded(rows: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    return [(key, worded(text)) for key, text in rows]


def _tally(base: int, terms: Mapping[str, int]) -> str:
    return json.dumps({tally_key(base, term): count for term, count in terms.items()})


async def hold_base(connection: Any, tenant_id: str, base_id: str) -> int | None:
    """The number of a base, whose writers wait for each other from here on; None when it was never written."""
    key: int | None = await connection.fetchval(
        "SELECT key FROM bases WHERE tenant_id = $1 AND base_id = $2 FOR UPDATE", tenant_id, base_id
    )
    return key


async def make_base(connection: Any, tenant_id: str, base_id: str) -> int:
    """The same for a base that gets its number with its first row."""
    key = await hold_base(connection, tenant_id, base_id)
    while key is None:
        await connection.execute(
            "INSERT INTO bases (tenant_id, base_id, terms_version) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
            tenant_id,
            base_id,
            TERMS_VERSION,
        )
        key = await hold_base(connection, tenant_id, base_id)
    return key


async def upsert(connection: Any, base: int, rows: Sequence[Stored]) -> None:
    """Insert rows or replace them by chunk id, the last of those with one id."""
    ids = [row.chunk_id for row in rows]
    before = await _size(connection, base, ids)
    values = await asyncio.to_thread(lambda: [_values(base, row) for row in rows])
    await connection.executemany(
        f"WITH written AS (INSERT INTO entries AS e ({_COLUMNS})"
        f" VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) {_REPLACE} RETURNING id)"
        f" INSERT INTO texts (id, text, words) SELECT id, $12, $13 FROM written {_KEEP_TEXT}",
        values,
    )
    await _count(connection, base, before, await _size(connection, base, ids))


def _values(base: int, row: Stored) -> tuple[Any, ...]:
    return (
        base,
        row.chunk_id,
        row.document_id,
        row.chunk_type,
        row.enabled,
        sorted(set(row.tag_ids)),
        row.terms.total(),
        _tally(base, row.terms),
        hashlib.blake2b(row.text.encode(), digest_size=16).digest(),
        0 if row.vector is None else row.vector.size,
        row.vector,
        row.text,
        worded(row.text),
    )


async def _size(connection: Any, base: int, chunk_ids: Sequence[str]) -> tuple[int, int]:
    """How many of these rows there are, and how many terms they have."""
    rows, terms = await connection.fetchrow(
        "SELECT count(*), coalesce(sum(length), 0)::bigint FROM entries WHERE base = $1 AND chunk_id = ANY($2)",
        base,
        chunk_ids,
    )
    return rows, terms


async def _count(connection: Any, base: int, before: tuple[int, int], after: tuple[int, int]) -> None:
    if before != after:
        await connection.execute(
            "UPDATE bases SET entries = entries + $2, terms = terms + $3 WHERE key = $1",
            base,
            after[0] - before[0],
            after[1] - before[1],
        )


async def delete_chunks(connection: Any, base: int, chunk_ids: Collection[str]) -> None:
    await _delete(connection, base, "chunk_id = ANY($2)", chunk_ids)


async def delete_documents(connection: Any, base: int, document_ids: Collection[str]) -> None:
    await _delete(connection, base, "document_id = ANY($2)", document_ids)


async def _delete(connection: Any, base: int, where: str, ids: Iterable[str]) -> None:
    await connection.execute(
        f"WITH gone AS (DELETE FROM entries WHERE base = $1 AND {where} RETURNING length)"
        " UPDATE bases SET entries = entries - (SELECT count(*) FROM gone),"
        " terms = terms - (SELECT coalesce(sum(length), 0) FROM gone)::bigint WHERE key = $1",
        base,
        sorted(ids),
    )


async def delete_base(connection: Any, base: int) -> None:
    await connection.execute("DELETE FROM entries WHERE base = $1", base)
    await connection.execute("DELETE FROM bases WHERE key = $1", base)


async def set_enabled(connection: Any, base: int, enabled: Mapping[str, bool]) -> None:
    await connection.execute(
        "UPDATE entries AS e SET enabled = w.enabled FROM unnest($2::text[], $3::boolean[]) AS w (chunk_id, enabled)"
        " WHERE e.base = $1 AND e.chunk_id = w.chunk_id AND e.enabled <> w.enabled",
        base,
        list(enabled),
        list(enabled.values()),
    )


async def set_tags(connection: Any, base: int, tags: Mapping[str, Sequence[str]]) -> None:
    await connection.executemany(
        "UPDATE entries SET tag_ids = $3 WHERE base = $1 AND chunk_id = $2 AND tag_ids <> $3",
        [(base, chunk_id, sorted(set(tag_ids))) for chunk_id, tag_ids in tags.items()],
    )


async def copy_base(
    connection: Any, source: int, target: int, chunk_ids: Mapping[str, str], document_ids: Mapping[str, str]
) -> None:
    """Copy rows under the mapped ids; a document without a mapped id keeps its own."""
    pairs = {new: old for old, new in sorted(chunk_ids.items())}
    before = await _size(connection, target, list(pairs))
    await connection.execute(
        "WITH copied AS (SELECT e.*, t.text, t.words, c.new_id, coalesce(d.new_id, e.document_id) AS new_document_id,"
        " (SELECT coalesce(jsonb_object_agg($2::text || substr(key, length($1::text) + 1), value), '{}')"
        " FROM jsonb_each(e.tally)) AS new_tally"
        " FROM entries AS e JOIN texts AS t USING (id)"
        " JOIN unnest($3::text[], $4::text[]) AS c (old_id, new_id) ON c.old_id = e.chunk_id"
        " LEFT JOIN unnest($5::text[], $6::text[]) AS d (old_id, new_id) ON d.old_id = e.document_id"
        " WHERE e.base = $1::text::integer),"
        f" written AS (INSERT INTO entries AS e ({_COLUMNS}) SELECT $2::text::integer, new_id, new_document_id,"
        " chunk_type, enabled, tag_ids, length, new_tally, digest, dimension, embedding FROM copied"
        f" {_REPLACE} RETURNING id, chunk_id)"
        " INSERT INTO texts (id, text, words) SELECT w.id, c.text, c.words FROM written AS w"
        " JOIN copied AS c ON c.new_id = w.chunk_id"
        f" {_KEEP_TEXT}",
        str(source),
        str(target),
        list(pairs.values()),
        list(pairs),
        list(document_ids),
        list(document_ids.values()),
    )
    await _count(connection, target, before, await _size(connection, target, list(pairs)))


async def rebuild_terms(connection: Any, base: int) -> None:
    """Make the tallies and the words of a base again, from its texts."""
    held = await connection.fetchval("SELECT terms_version FROM bases WHERE key = $1 FOR UPDATE", base)
    if held in (None, TERMS_VERSION):
        return
    last = 0
    while rows := await connection.fetch(
        "SELECT id, text FROM texts JOIN entries USING (id) WHERE base = $1 AND id > $2 ORDER BY id LIMIT $3",
        base,
        last,
        REBUILD_ROWS,
    ):
        counted = await asyncio.to_thread(_all_tallied, [text for _, text in rows])
        await connection.executemany(
            "UPDATE entries SET tally = $2, length = $3 WHERE id = $1",
            [(key, _tally(base, terms), terms.total()) for (key, _), terms in zip(rows, counted, strict=True)],
        )
        await connection.executemany(
            "UPDATE texts SET words = $2 WHERE id = $1", await asyncio.to_thread(_all_worded, rows)
        )
        last = rows[-1][0]
    await connection.execute(
        "UPDATE bases SET terms_version = $2,"
        " terms = (SELECT coalesce(sum(length), 0) FROM entries WHERE base = $1)::bigint WHERE key = $1",
        base,
        TERMS_VERSION,
    )
