"""The vector arm: exact cosine over a base's vectors, in memory or in blocks from the file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from itertools import islice

import apsw
import numpy as np
import numpy.typing as npt

from opora.domain.scope import Scope
from opora.domain.search import EngineHit, ScoreKind
from opora.engines.sqlite.rows import Keys, fetch, numbers
from opora.engines.sqlite.segments import BLOCK_ROWS, Block, Column, Segments
from opora.engines.sqlite.visible import Base, Visible, bases_of, visible

Scores = npt.NDArray[np.float32]

_SLACK = 1e-5
"""More than a float32 dot product of unit vectors can be wrong by; what lies this near is scored again in float64."""
_EXACT = 1e-9
"""A score that falls short of the threshold by less has reached it: only the last bits of its input are missing."""
_FEW = 0.25
"""Below this share of visible rows, picking them out is cheaper than scanning all."""


def search(
    connection: apsw.Connection,
    segments: Segments,
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
            "SELECT max(slot) FROM vector WHERE base = ? AND dimension = ?", (base.key, query.size)
        ).get
        if last is None:
            continue
        column = _column(connection, base, query.size, last)
        keys, scores = _scan(segments, column, visible(connection, base, scope, "slot"), query)
        near = _near_the_top(scores, top_k, threshold)
        hits += _scored(connection, base, keys[near], query, threshold)
    hits.sort(key=lambda hit: (-hit.score, hit.chunk_id, hit.base_id))
    return hits[:top_k]


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


def _scan(segments: Segments, column: Column, seen: Visible, query: npt.NDArray[np.float32]) -> tuple[Keys, Scores]:
    """Slots that may be seen and their approximate scores."""
    segment = segments.get(column)
    blocks = column.read_blocks(0) if segment is None else iter([(segment.keys, segment.data)])
    found: list[tuple[Keys, Scores]] = []
    for keys, data in blocks:
        mask = seen.mask(keys)
        if mask is None:
            found.append((keys, data @ query))
        elif np.count_nonzero(mask) < _FEW * keys.size:
            found.append((keys[mask], data[mask] @ query))
        else:
            found.append((keys[mask], (data @ query)[mask]))
    if len(found) == 1:
        return found[0]
    return np.concatenate([keys for keys, _ in found]), np.concatenate([scores for _, scores in found])


def _near_the_top(scores: Scores, top_k: int, threshold: float) -> npt.NDArray[np.int64]:
    """Positions of all rows that could be among the best ``top_k`` once scored exactly, ties at the cut included."""
    floor = -np.inf if threshold == 0 else threshold - _SLACK
    if scores.size > top_k:
        floor = max(floor, float(np.partition(scores, scores.size - top_k)[scores.size - top_k]) - _SLACK)
    return np.flatnonzero(scores >= floor)


def _scored(
    connection: apsw.Connection, base: Base, slots: Keys, query: npt.NDArray[np.float32], threshold: float
) -> list[EngineHit]:
    """Exact cosine, each row by itself in float64: the score does not depend on where a row lies or who is near."""
    rows = fetch(
        connection,
        "SELECT r.chunk_id, r.document_id, v.data FROM json_each(?) AS wanted "
        "JOIN vector AS v ON v.slot = wanted.value JOIN row AS r ON r.slot = v.slot",
        (json.dumps(slots.tolist()),),
    )
    if not rows:
        return []
    data = np.frombuffer(b"".join([data for _, _, data in rows]), np.float32).reshape(len(rows), query.size)
    exact, asked = data.astype(np.float64), query.astype(np.float64)
    norms = np.sqrt((exact * exact).sum(axis=1) * (asked * asked).sum())
    cosines = np.clip((exact * asked).sum(axis=1) / norms, -1.0, 1.0)
    return [
        EngineHit(chunk_id=chunk_id, base_id=base.base_id, document_id=document_id, score=score, kind=ScoreKind.COSINE)
        for (chunk_id, document_id, _), score in zip(rows, cosines.tolist(), strict=True)
        if threshold == 0 or score >= threshold - _EXACT
    ]
