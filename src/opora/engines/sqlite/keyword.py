"""The keyword arm: BM25 over the terms of the bases in scope, on statistics of these bases together."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice

import apsw
import numpy as np
import numpy.typing as npt

from opora.domain.scope import Scope
from opora.domain.search import EngineHit, ScoreKind
from opora.engines.sqlite.postings import PostingCache, Postings, Snapshot
from opora.engines.sqlite.rows import Keys, fetch, numbers
from opora.engines.sqlite.segments import BLOCK_ROWS, Block, Column, Segments
from opora.engines.sqlite.visible import Base, bases_of, visible
from opora.text.terms import query_terms

K1 = 1.2
B = 0.75
"""The usual parameters of BM25 (Robertson and Zaragoza 2009); nothing was tuned here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    """The keyword side of one base for one query."""

    base: Base
    keys: Keys
    lengths: npt.NDArray[np.int64]
    postings: dict[str, Postings]


def search(
    connection: apsw.Connection, segments: Segments, cache: PostingCache, scope: Scope, query: str, *, top_k: int
) -> list[EngineHit]:
    """The best rows over all bases of the scope.

    Several bases are scored on their pooled statistics (rows, term frequencies, mean length), so their scores are on
    one scale: the order is that of one index over the same rows, and no base outside the scope has any part in it.
    """
    asked = Counter(query_terms(query))
    if not asked:
        return []
    bases = [_words(connection, segments, cache, base, asked) for base in bases_of(connection, scope)]
    rows = sum(words.keys.size for words in bases)
    mean = sum(int(words.lengths.sum()) for words in bases) / max(rows, 1)
    weights = {
        term: times * _idf(rows, sum(words.postings[term].at.size for words in bases)) for term, times in asked.items()
    }
    hits: list[EngineHit] = []
    for words in bases:
        scores = _scores(words, weights, mean)
        mask = visible(connection, words.base, scope, "id").mask(words.keys)
        if mask is not None:
            scores[~mask] = 0.0
        hits += _hits(connection, words, scores, top_k)
    hits.sort(key=lambda hit: (-hit.score, hit.chunk_id, hit.base_id))
    return hits[:top_k]


def _idf(rows: int, with_term: int) -> float:
    """Always above 0, so that a word in every row of a tiny base still finds them."""
    return math.log(1.0 + (rows - with_term + 0.5) / (with_term + 0.5))


def _scores(words: _Words, weights: dict[str, float], mean: float) -> npt.NDArray[np.float64]:
    scores = np.zeros(words.keys.size)
    for term, weight in weights.items():
        found = words.postings[term]
        if found.at.size:
            norm = K1 * (1.0 - B + B * words.lengths[found.at] / mean)
            scores[found.at] += weight * found.counts * (K1 + 1.0) / (found.counts + norm)
    return scores


def _hits(connection: apsw.Connection, words: _Words, scores: npt.NDArray[np.float64], top_k: int) -> list[EngineHit]:
    """The best rows of one base, with all that tie at the cut."""
    at = np.flatnonzero(scores)
    if at.size > top_k:
        floor = np.partition(scores[at], at.size - top_k)[at.size - top_k]
        at = at[scores[at] >= floor]
    found = fetch(
        connection,
        "SELECT row.id, chunk_id, document_id FROM json_each(?) AS wanted JOIN row ON row.id = wanted.value",
        (json.dumps(words.keys[at].tolist()),),
    )
    score_of = dict(zip(words.keys[at].tolist(), scores[at].tolist(), strict=True))
    return [
        EngineHit(
            chunk_id=chunk_id,
            base_id=words.base.base_id,
            document_id=document_id,
            score=score_of[key],
            kind=ScoreKind.BM25,
        )
        for key, chunk_id, document_id in found
    ]


def _words(
    connection: apsw.Connection, segments: Segments, cache: PostingCache, base: Base, asked: Counter[str]
) -> _Words:
    select = "SELECT group_concat(id) FROM row WHERE base = :base"
    last = connection.execute("SELECT id FROM row WHERE base = ? ORDER BY id DESC LIMIT 1", (base.key,)).get or 0
    column = Column(
        base=base.key,
        dimension=0,
        erased=base.erased,
        last=last,
        read_keys=lambda: np.sort(numbers(connection, select, {"base": base.key})),
        read_blocks=partial(_length_blocks, connection, base.key),
        empty=np.empty(0, np.int64),
    )
    segment = segments.get(column)
    if segment is None:
        blocks = list(column.read_blocks(0))
        keys = np.concatenate([keys for keys, _ in blocks])
        lengths = np.concatenate([lengths for _, lengths in blocks])
    else:
        keys, lengths = segment.keys, segment.data
    snapshot = Snapshot(base=base.key, erased=base.erased, last=last)
    postings = {term: cache.get(connection, snapshot, term, keys) for term in asked}
    return _Words(base=base, keys=keys, lengths=lengths, postings=postings)


def _length_blocks(connection: apsw.Connection, base: int, above: int) -> Iterator[Block]:
    cursor = connection.execute("SELECT id, length FROM row WHERE base = ? AND id > ? ORDER BY id", (base, above))
    while rows := list(islice(cursor, BLOCK_ROWS)):
        block = np.array(rows, np.int64)
        yield block[:, 0], block[:, 1]
