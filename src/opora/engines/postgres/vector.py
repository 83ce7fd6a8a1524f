"""The vector arm: exact cosine over few rows, an HNSW index over many."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from opora.domain.scope import Scope
from opora.domain.search import EngineHit, ScoreKind
from opora.engines.postgres.hnsw import MAX_INDEXED
from opora.engines.postgres.visible import Base, Values, conditions, is_narrow

EXACT_ROWS = 10_000
"""Up to here every row is looked at: the result is exact, and takes no longer than the way through the index."""
MIN_CANDIDATES = 100
MAX_CANDIDATES = 200
MIN_EF_SEARCH = 40
MAX_EF_SEARCH = 1000
ROUNDING = 2.0**-11
"""A score that falls short of the threshold by less has reached it: half precision can't tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A statement and the values of its places."""

    text: str
    values: Sequence[Any]


def candidates(top_k: int) -> int:
    """How many rows the index is asked for: twice as many as wanted, from 100 to 200, and never fewer than wanted."""
    return max(top_k, min(max(2 * top_k, MIN_CANDIDATES), MAX_CANDIDATES))


async def search(
    connection: Any,
    bases: Sequence[Base],
    scope: Scope,
    query: npt.NDArray[np.float32],
    *,
    top_k: int,
    threshold: float,
    has_iterative_scan: bool,
    exact_rows: int = EXACT_ROWS,
) -> list[EngineHit]:
    """The best rows over all ``bases``; ``query`` has length 1.

    Without the iterative scan of pgvector 0.8 the index gives its nearest rows before they are filtered, which a small
    base would get nothing of: then every row is looked at. So it is where the index came to its end before enough
    rows fitted.
    """
    if not bases:
        return []
    rows: list[Any] = []
    wanted = candidates(top_k)
    if has_iterative_scan and query.size <= MAX_INDEXED and await _are_many(connection, bases, scope, exact_rows):
        statement = nearest(bases, scope, query, top_k=wanted)
        async with connection.transaction(readonly=True):
            await connection.execute(
                f"SET LOCAL hnsw.ef_search = {min(max(wanted, MIN_EF_SEARCH), MAX_EF_SEARCH)};"
                " SET LOCAL hnsw.iterative_scan = strict_order"
            )
            rows = await connection.fetch(statement.text, *statement.values)
    if len(rows) < wanted:
        statement = exact(bases, scope, query, top_k=top_k)
        rows = await connection.fetch(statement.text, *statement.values)
    return _hits(rows, bases, top_k, threshold)


def nearest(bases: Sequence[Base], scope: Scope, query: npt.NDArray[np.float32], *, top_k: int) -> Query:
    """By the index. It is used only where the order repeats its expression to the letter, cast and all."""
    values = Values()
    place = values.place(query, f"halfvec({query.size})")
    distance = f"embedding::halfvec({query.size}) <=> {place}"
    return Query(
        text=f"SELECT chunk_id, base, document_id, {distance} AS distance FROM entries"
        f" WHERE {_where(bases, scope, values, query.size)} ORDER BY {distance} LIMIT {top_k}",
        values=values.given,
    )


def exact(bases: Sequence[Base], scope: Scope, query: npt.NDArray[np.float32], *, top_k: int) -> Query:
    """By every row that may be seen, ties in the order of their ids."""
    values = Values()
    distance = f"embedding <=> {values.place(query, 'halfvec')}"
    return Query(
        text=f"WITH seen AS MATERIALIZED (SELECT chunk_id, base, document_id, {distance} AS distance FROM entries"
        f" WHERE {_where(bases, scope, values, query.size)})"
        f" SELECT * FROM seen ORDER BY distance, chunk_id, base LIMIT {top_k}",
        values=values.given,
    )


async def read_vectors(
    connection: Any, tenant_id: str, base_id: str, chunk_ids: Collection[str]
) -> dict[str, npt.NDArray[np.float32]]:
    """The stored vectors of a base's rows, by chunk id, brought back to length 1 from half precision."""
    rows = await connection.fetch(
        "SELECT e.chunk_id, e.embedding FROM bases AS b JOIN entries AS e ON e.base = b.key"
        " WHERE b.tenant_id = $1 AND b.base_id = $2 AND e.chunk_id = ANY($3) AND e.embedding IS NOT NULL",
        tenant_id,
        base_id,
        sorted(chunk_ids),
    )
    return {chunk_id: vector / np.linalg.norm(vector) for chunk_id, vector in rows}


def _where(bases: Sequence[Base], scope: Scope, values: Values, dimension: int) -> str:
    keys = values.place([base.key for base in bases], "integer[]")
    return f"base = ANY({keys}) AND dimension = {dimension} AND {conditions(scope, values)}"


async def _are_many(connection: Any, bases: Sequence[Base], scope: Scope, limit: int) -> bool:
    if sum(base.entries for base in bases) <= limit:
        return False
    if not is_narrow(scope):
        return True
    values = Values()
    keys = values.place([base.key for base in bases], "integer[]")
    few = f"SELECT 1 FROM entries WHERE base = ANY({keys}) AND {conditions(scope, values)} LIMIT {limit + 1}"
    count: int = await connection.fetchval(f"SELECT count(*) FROM ({few}) AS few", *values.given)
    return count > limit


def _hits(rows: Sequence[Any], bases: Sequence[Base], top_k: int, threshold: float) -> list[EngineHit]:
    names = {base.key: base.base_id for base in bases}
    floor = -np.inf if threshold == 0 else threshold - ROUNDING
    hits = [
        EngineHit(
            chunk_id=chunk_id,
            base_id=names[base],
            document_id=document_id,
            score=min(1.0, max(-1.0, 1.0 - distance)),
            kind=ScoreKind.COSINE,
        )
        for chunk_id, base, document_id, distance in rows
        if 1.0 - distance >= floor
    ]
    hits.sort(key=lambda hit: (-hit.score, hit.chunk_id, hit.base_id))
    return hits[:top_k]
