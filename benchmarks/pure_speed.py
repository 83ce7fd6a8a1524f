"""How fast the pure heart is, beside plain versions of the same rules: ``python -m benchmarks.pure_speed``.

Fusion of 4 lists of 500, variety among 200 candidates of 300 tokens, merging of 200 chunks; all made up from a seed.
Plain versions do what the rules say in the most direct way, and must give the same answer.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import statistics
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import accumulate
from typing import Any

from opora.domain.knowledge import Chunk, Place
from opora.domain.search import EngineHit, ScoreKind, SearchResult
from opora.merge.duplicates import is_near_duplicate, without_near_duplicates
from opora.merge.merge import merge
from opora.merge.order import order_key
from opora.merge.piece import Piece
from opora.merge.state import Merging, Sources
from opora.merge.texts import Texts
from opora.rank.mmr import MMR_LAMBDA, select_mmr
from opora.retrieve.fuse import KEYWORD, VECTOR, ArmList, fuse
from opora.text.tokens import jaccard

SEED = 20260101
ROUNDS = 15
LISTS, LIST_HITS = 4, 500
CANDIDATES, CANDIDATE_TOKENS, PICKS = 200, 300, 10
CHUNKS, CHUNK_WORDS = 200, 70
VOCABULARY = 4_000
_WORDS = ["".join("анорскивте"[int(digit)] for digit in f"{number:04}") for number in range(VOCABULARY)]
_WEIGHTS = list(accumulate(1 / (number + 1) for number in range(VOCABULARY)))


def timed(call: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """Median milliseconds of a call."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        call()
        times.append(1000 * (time.perf_counter() - begin))
    return statistics.median(times)


def words(chance: random.Random, count: int) -> list[str]:
    """Made-up words as often as in a natural language: the n-th by 1/n."""
    return chance.choices(_WORDS, cum_weights=_WEIGHTS, k=count)


def fusion(chance: random.Random) -> dict[str, float]:
    ids = [f"chunk-{n}" for n in range(1_000)]
    lists = []
    for number in range(LISTS):
        arm, kind = (VECTOR, ScoreKind.COSINE) if number % 2 == 0 else (KEYWORD, ScoreKind.BM25)
        hits = [
            EngineHit(chunk_id=chunk_id, base_id="kb", document_id="d", score=1.0 - place / 1000, kind=kind)
            for place, chunk_id in enumerate(chance.sample(ids, LIST_HITS))
        ]
        lists.append(ArmList(arm=arm, hits=hits))
    plain = dict(plain_fusion(lists))
    ours = fuse(lists)
    assert len(ours) == len(plain)
    assert all(math.isclose(item.score, plain[item.chunk_id]) for item in ours)
    return beside(timed(lambda: fuse(lists)), timed(lambda: plain_fusion(lists), 3))


def plain_fusion(lists: Sequence[ArmList]) -> list[tuple[str, float]]:
    """The formula as it is written, ranks looked up list by list."""
    places = [[hit.chunk_id for hit in one.hits] for one in lists]
    scores = {}
    for chunk_id in {chunk_id for place in places for chunk_id in place}:
        total = 0.0
        for arm, weight in ((VECTOR, 0.7), (KEYWORD, 0.3)):
            mine = zip(lists, places, strict=True)
            ranks = [p.index(chunk_id) + 1 for one, p in mine if one.arm == arm and chunk_id in p]
            total += weight / (60 + min(ranks)) if ranks else 0.0
        scores[chunk_id] = total / ((0.7 + 0.3) / 61)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def variety(chance: random.Random) -> dict[str, float]:
    tokens = [frozenset(chance.sample(_WORDS, CANDIDATE_TOKENS)) for _ in range(CANDIDATES)]
    relevance = [chance.random() for _ in range(CANDIDATES)]

    def ours() -> list[tuple[int, float]]:
        return select_mmr(relevance, tokens.__getitem__, k=PICKS)

    assert [index for index, _ in ours()] == plain_mmr(relevance, tokens)
    return beside(timed(ours), timed(lambda: plain_mmr(relevance, tokens), 3))


def plain_mmr(relevance: Sequence[float], tokens: Sequence[frozenset[str]]) -> list[int]:
    """Every candidate compared with every pick at every step."""
    taken: list[int] = []
    while len(taken) < PICKS:
        values = {
            i: MMR_LAMBDA * relevance[i]
            - (1 - MMR_LAMBDA) * max((jaccard(tokens[i], tokens[j]) for j in taken), default=0)
            for i in range(len(relevance))
            if i not in taken
        }
        taken.append(max(values, key=lambda i: (values[i], -i)))
    return taken


def merging(chance: random.Random) -> dict[str, float]:
    results = [chunk(chance, number) for number in range(CHUNKS)]
    state = Merging(pieces=tuple(Piece.of(result) for result in results))
    ours = {piece.result.chunk_id for piece in without_near_duplicates(state, Sources(query="q")).pieces}
    assert ours == {piece.result.chunk_id for piece in plain_near_duplicates(results)}

    figures = beside(asyncio.run(merge_time(results)), timed(lambda: plain_near_duplicates(results), 3))
    figures["near_duplicates_ms"] = round(timed(lambda: without_near_duplicates(state, Sources(query="q"))), 3)
    return figures


async def merge_time(results: Sequence[SearchResult]) -> float:
    """Median milliseconds of all eight steps, without the time to start an event loop."""
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        await merge(results, [], query="анор скив", read=nothing)
        times.append(1000 * (time.perf_counter() - begin))
    return statistics.median(times)


def chunk(chance: random.Random, number: int) -> SearchResult:
    """A chunk of one of twenty documents; some follow each other, the rest stand apart."""
    content = " ".join(words(chance, CHUNK_WORDS))
    start = number * 1_000
    return SearchResult(
        chunk_id=f"chunk-{number}",
        base_id="kb",
        tenant_id="t",
        document_id=f"doc-{number // 10}",
        content=content,
        chunk_index=number * (1 + number % 2),
        score=chance.random(),
        place=Place(start=start, end=start + len(content)),
    )


async def nothing(chunk_ids: Collection[str]) -> Mapping[str, Chunk]:
    return {}


def plain_near_duplicates(results: Sequence[SearchResult]) -> list[Piece]:
    """Every pair compared: the last step of the merge alone, done in the direct way."""
    texts = Texts()
    kept: list[Piece] = []
    for piece in sorted((Piece.of(result) for result in results), key=lambda piece: order_key(piece.result)):
        if not any(is_near_duplicate(piece, other, texts) for other in kept):
            kept.append(piece)
    return kept


def beside(ours: float, plain: float) -> dict[str, float]:
    return {"ours_ms": round(ours, 3), "plain_ms": round(plain, 3), "times_faster": round(plain / ours, 1)}


def run() -> dict[str, dict[str, float]]:
    """The three figures, from one seed."""
    parts: dict[str, Callable[[random.Random], dict[str, float]]] = {
        f"fuse {LISTS} x {LIST_HITS}": fusion,
        f"variety {CANDIDATES} x {CANDIDATE_TOKENS} tokens to {PICKS}": variety,
        f"merge {CHUNKS} chunks": merging,
    }
    return {name: part(random.Random(SEED)) for name, part in parts.items()}


if __name__ == "__main__":
    print(json.dumps(run(), indent=2))
