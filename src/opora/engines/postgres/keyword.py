"""The keyword arm: BM25 over the terms of the bases in scope, on statistics of these bases together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from opora.domain.scope import Scope
from opora.domain.search import EngineHit, ScoreKind
from opora.engines.postgres.vector import Query
from opora.engines.postgres.visible import Base, Values, conditions
from opora.engines.postgres.write import tally_key
from opora.text.terms import query_terms

K1 = 1.2
B = 0.75
"""The usual parameters of BM25 (Robertson and Zaragoza 2009); nothing was tuned here."""


async def search(connection: Any, bases: Sequence[Base], scope: Scope, query: str, *, top_k: int) -> list[EngineHit]:
    """The best rows over all ``bases``.

    Several bases are scored on their pooled statistics (rows, term frequencies, mean length), so their scores are on
    one scale: the order is that of one index over the same rows, and no base outside the scope has any part in it.
    """
    asked = Counter(query_terms(query))
    if not asked or not sum(base.terms for base in bases):
        return []
    statement = ranked(bases, scope, asked, top_k=top_k)
    names = {base.key: base.base_id for base in bases}
    rows = await connection.fetch(statement.text, *statement.values)
    hits = [
        EngineHit(chunk_id=chunk_id, base_id=names[base], document_id=document_id, score=score, kind=ScoreKind.BM25)
        for chunk_id, base, document_id, score in rows
    ]
    hits.sort(key=lambda hit: (-hit.score, hit.chunk_id, hit.base_id))
    return hits


def ranked(bases: Sequence[Base], scope: Scope, asked: Mapping[str, int], *, top_k: int) -> Query:
    """One statement: rows that hold a term, how many of them each term is in, and the sum over its terms for each.

    Rows that may not be seen count in the statistics, or switching a chunk off would change the order of the others.
    """
    values = Values()
    rows = sum(base.entries for base in bases)
    total = values.place(float(rows), "float8")
    mean = values.place(sum(base.terms for base in bases) / max(rows, 1), "float8")
    keys = values.place([tally_key(base.key, term) for base in bases for term in asked], "text[]")
    counts = [f"(tally -> {_key(bases, term, values)})::integer AS c{i}" for i, term in enumerate(asked)]
    # Always above 0, so that a word in every row of a tiny base still finds them.
    weights = [
        f"{times} * ln(1.0::float8 + ({total} - count(c{i}) + 0.5::float8) / (count(c{i}) + 0.5::float8)) AS w{i}"
        for i, times in enumerate(asked.values())
    ]
    norm = f"{K1}::float8 * ({1 - B}::float8 + {B}::float8 * length / {mean})"
    sums = [f"coalesce(w{i} * c{i} * {K1 + 1}::float8 / (c{i} + norm), 0)" for i in range(len(asked))]
    return Query(
        text=f"WITH holding AS MATERIALIZED (SELECT chunk_id, base, document_id, {norm} AS norm,"
        f" {conditions(scope, values)} AS is_seen, {', '.join(counts)} FROM entries WHERE tally ?| {keys}),"
        f" weights AS (SELECT {', '.join(weights)} FROM holding)"
        f" SELECT chunk_id, base, document_id, {' + '.join(sums)} AS score FROM holding, weights"
        f" WHERE is_seen ORDER BY score DESC, chunk_id, base LIMIT {top_k}",
        values=values.given,
    )


def _key(bases: Sequence[Base], term: str, values: Values) -> str:
    if len(bases) == 1:
        return values.place(tally_key(bases[0].key, term), "text")
    return f"(base || {values.place(tally_key('', term), 'text')})"
