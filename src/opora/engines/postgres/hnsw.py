"""The HNSW indexes, one for each size of vectors that was ever written."""

from __future__ import annotations

import logging
from typing import Any

log = logging.getLogger(__name__)

MAX_INDEXED = 4000
"""pgvector builds no index over longer vectors of half precision; they are searched exactly."""
MAX_DIMENSION = 16_000
"""What a halfvec holds."""
INDEX_LOCK = 0x6F706F72
"""With the size of the vectors: the advisory lock of whoever makes an index."""


def index_name(dimension: int) -> str:
    return f"entries_embedding_{dimension}"


async def unindexed(connection: Any) -> list[int]:
    """Sizes of stored vectors whose index is missing or was left half-made."""
    found = await connection.fetch(
        "WITH RECURSIVE sizes AS ("
        "(SELECT dimension FROM entries ORDER BY dimension LIMIT 1) UNION ALL"
        " SELECT (SELECT e.dimension FROM entries AS e WHERE e.dimension > s.dimension ORDER BY e.dimension LIMIT 1)"
        " FROM sizes AS s WHERE s.dimension IS NOT NULL) SELECT dimension FROM sizes WHERE dimension > 0"
    )
    sizes = [size for (size,) in found if size <= MAX_INDEXED]
    return [size for size in sizes if not await has_index(connection, size)]


async def has_index(connection: Any, dimension: int) -> bool:
    valid: bool | None = await connection.fetchval(
        "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)", index_name(dimension)
    )
    return bool(valid)


async def make_index(connection: Any, dimension: int) -> bool:
    """Make the index beside running reads and writes; False when another server is at it.

    ``connection`` is outside of a transaction. One that waited for the lock would be waited for by whoever builds.
    """
    if not await connection.fetchval("SELECT pg_try_advisory_lock($1, $2)", INDEX_LOCK, dimension):
        return False
    name = index_name(dimension)
    if await has_index(connection, dimension):
        return True
    await connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
    await connection.execute(
        f"CREATE INDEX CONCURRENTLY {name} ON entries USING hnsw"
        f" ((embedding::halfvec({dimension})) halfvec_cosine_ops) WHERE dimension = {dimension}"
    )
    log.info("Vectors of %d numbers have an index in PostgreSQL now.", dimension)
    return True
