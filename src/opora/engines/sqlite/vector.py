"""The vector arm: exact cosine over a base's vectors, in memory or in blocks from the file."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from functools import partial
from itertools import islice

import apsw
import numpy as np
import numpy.typing as npt

from opora.domain.scope import Scope
from opora.domain.search import EngineHit, ScoreKind
from opora.engines.sqlite.rows import Keys, fetch, numbers
from opora.engines.sqlite.scan import Scanner
from opora.engines.sqlite.segments import BLOCK_ROWS, Block, Column, Segments
from opora.engines.sqlite.visible import Base, Visible, bases_of, visible

Scores = npt.NDArray[np.float32]

_ROUNDING = 1e-6
"""A score that falls short of the threshold by less has reached it: float32 can't tell."""
_FEW = 0.25
"""Below this share of visible rows, picking them out is cheaper than scanning all."""


def search(
    connection: apsw.Connection,
    segments: Segments,
    scanner: Scanner,
    scope: Scope,
    query: npt.NDArray[np.float32],
    *,
    top_k: int,
    threshold: float,
) -> list[EngineHit]:
    """The best rows over all bases of the scope; ``query`` has length 1."""
    hits: list[EngineHit] = []
    for base in bases_of(connection, scope):
        last = connection.execute(
            "SELECT slot FROM vector WHERE base = ? AND dimension = ? ORDER BY slot DESC LIMIT 1",
            (base.key, query.size),
        ).get
        if last is None:
            continue
        column = _column(connection, base, query.size, last)
        keys, scores = _scan(segments, scanner, column, visible(connection, base, scope, "slot"), query)
        best = _best(scores, top_k, threshold)
        hits += _hits(connection, base, keys[best], scores[best])
    hits.sort(key=lambda hit: (-hit.score, hit.chunk_id, hit.base_id))
    return hits[:top_k]


def read_vectors(connection: apsw.Connection, base: int, chunk_ids: Collection[str]) -> dict[str, Scores]:
    """The stored vectors of a base's rows, by chunk id.

    The order of the joins is given: left to itself SQLite begins with all vectors, which takes twenty times as long.
    """
    found = fetch(
        connection,
        "SELECT row.chunk_id, vector.data FROM json_each(?) AS wanted"
        " CROSS JOIN row ON row.base = ? AND row.chunk_id = wanted.value CROSS JOIN vector ON vector.slot = row.slot",
        (json.dumps(sorted(chunk_ids)), base),
    )
    return {chunk_id: np.frombuffer(data, np.float32) for chunk_id, data in found}


def _column(connection: apsw.Connection, base: Base, dimension: int, last: int) -> Column:
    bindings = {"base": base.key, "dimension": dimension}
    select = "SELECT group_concat(slot) FROM vector WHERE base = :base AND dimension = :dimension"
    return Column(
        base=base.key,
        dimension=dimension,
        erased=base.erased,
        last=last,
        read_keys=lambda: np.sort(numbers(connection, select, bindings)),
        read_blocks=partial(_blocks, connection, base.key, dimension),
        empty=np.empty((0, dimension), np.float32),
    )


def _blocks(connection: apsw.Connection, base: int, dimension: int, above: int) -> Iterator[Block]:
    cursor = connection.execute(
        "SELECT slot, data FROM vector WHERE base = ? AND dimension = ? AND slot > ? ORDER BY slot",
        (base, dimension, above),
    )
    while rows := list(islice(cursor, BLOCK_ROWS)):
        data = np.frombuffer(b"".join([data for _, data in rows]), np.float32).reshape(len(rows), dimension)
        yield np.array([slot for slot, _ in rows], np.int64), data


def _scan(segments: Segments, scanner: Scanner, column: Column, seen: Visible, query: Scores) -> tuple[Keys, Scores]:
    """Slots that may be seen and their cosines."""
    segment = segments.get(column)
    blocks = column.read_blocks(0) if segment is None else iter([(segment.keys, segment.data)])
    found: list[tuple[Keys, Scores]] = []
    for keys, data in blocks:
        mask = seen.mask(keys)
        if mask is None:
            found.append((keys, scanner.scores(data, query)))
        elif np.count_nonzero(mask) < _FEW * keys.size:
            found.append((keys[mask], scanner.scores(data[mask], query)))
        else:
            found.append((keys[mask], scanner.scores(data, query)[mask]))
    if len(found) == 1:
        return found[0]
    return np.concatenate([keys for keys, _ in found]), np.concatenate([scores for _, scores in found])


def _best(scores: Scores, top_k: int, threshold: float) -> npt.NDArray[np.int64]:
    """Positions of the best ``top_k`` rows and of all that tie with the last of them; 0 is no threshold."""
    floor = -np.inf if threshold == 0 else threshold - _ROUNDING
    if scores.size > top_k:
        floor = max(floor, float(np.partition(scores, scores.size - top_k)[scores.size - top_k]))
    return np.flatnonzero(scores >= floor)


def _hits(connection: apsw.Connection, base: Base, slots: Keys, scores: Scores) -> list[EngineHit]:
    score_of = dict(zip(slots.tolist(), np.clip(scores, -1.0, 1.0).tolist(), strict=True))
    found = fetch(
        connection,
        "SELECT slot, chunk_id, document_id FROM json_each(?) AS wanted JOIN row ON row.slot = wanted.value",
        (json.dumps(slots.tolist()),),
    )
    return [
        EngineHit(
            chunk_id=chunk_id,
            base_id=base.base_id,
            document_id=document_id,
            score=score_of[slot],
            kind=ScoreKind.COSINE,
        )
        for slot, chunk_id, document_id in found
    ]
