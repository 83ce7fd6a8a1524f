"""PostgreSQL's own full text search: any lexeme of the question is enough, the rank is `ts_rank_cd`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from opora.domain.scope import Scope
from opora.domain.search import EngineHit, ScoreKind
from opora.engines.postgres.schema import CONFIGURATION
from opora.engines.postgres.vector import Query
from opora.engines.postgres.visible import Base, Values, conditions
from opora.text.terms import MAX_QUERY_TERMS, spaced


async def search(connection: Any, bases: Sequence[Base], scope: Scope, query: str, *, top_k: int) -> list[EngineHit]:
    """The best rows over all ``bases``. A rank is of its row alone: other rows and bases have no part in it.

    Of lexemes joined by OR `ts_rank_cd` counts each where it stands: more words rank higher, and those said more often.
    """
    asked = await lexemes(connection, query) if bases else []
    if not asked:
        return []
    statement = ranked(bases, scope, asked, top_k=top_k)
    names = {base.key: base.base_id for base in bases}
    return [
        EngineHit(chunk_id=chunk_id, base_id=names[base], document_id=document_id, score=score, kind=ScoreKind.TS_RANK)
        for chunk_id, base, document_id, score in await connection.fetch(statement.text, *statement.values)
    ]


async def lexemes(connection: Any, query: str) -> list[str]:
    """What the server's parser makes of a question, in the order of the question; function words are left out."""
    found = await connection.fetch(
        f"SELECT lexeme FROM unnest(to_tsvector('{CONFIGURATION}', $1)) ORDER BY positions[1], lexeme"
        f" LIMIT {MAX_QUERY_TERMS}",
        spaced(query, is_query=True),
    )
    return [lexeme for (lexeme,) in found]


def ranked(bases: Sequence[Base], scope: Scope, asked: Iterable[str], *, top_k: int) -> Query:
    """One statement over the index of the lexemes. They are known when it is planned, so it is planned for them."""
    values = Values()
    any_of = values.place(any_lexeme(asked), "text")
    keys = values.place([base.key for base in bases], "integer[]")
    return Query(
        text="SELECT e.chunk_id, e.base, e.document_id,"
        f" ts_rank_cd(t.content_tsv, {any_of}::tsquery)::float8 AS score"
        " FROM texts AS t JOIN entries AS e USING (id)"
        f" WHERE t.content_tsv @@ {any_of}::tsquery AND e.base = ANY({keys}) AND {conditions(scope, values)}"
        f" ORDER BY score DESC, e.chunk_id, e.base LIMIT {top_k}",
        values=values.given,
    )


def any_lexeme(asked: Iterable[str]) -> str:
    """A query for any of these lexemes, each as it is: nothing in them is an operator or the end of a quote."""
    quoted = (lexeme.replace("\\", "\\\\").replace("'", "''") for lexeme in asked)
    return " | ".join(f"'{lexeme}'" for lexeme in quoted)
