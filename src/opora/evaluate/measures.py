"""Measures of a ranking against known answers; pure, each in [0, 1], each over the whole set of questions.

Gains are those of the dataset; a question without any result scores 0. nDCG as by Järvelin and Kekäläinen (2002) with
linear gain and a logarithm of base 2, which is how trec_eval counts it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import fsum, log2

Gains = Mapping[str, int]
"""Gain above 0 by passage id; passages that are not there answer nothing."""
Ranking = Sequence[str]
"""Passage ids, best first, each once."""

CUT = 10


def ndcg(ranking: Ranking, gains: Gains, cut: int = CUT) -> float:
    """Discounted gain of the first ``cut`` over that of the best order there could be."""
    ideal = sorted(gains.values(), reverse=True)[:cut]
    best = fsum(gain / log2(rank + 1) for rank, gain in enumerate(ideal, start=1))
    got = fsum(gains.get(passage, 0) / log2(rank + 1) for rank, passage in enumerate(ranking[:cut], start=1))
    return got / best if best else 0.0


def reciprocal_rank(ranking: Ranking, gains: Gains, cut: int = CUT) -> float:
    """1 / rank of the first answer among the first ``cut``, 0 when there is none."""
    return next((1.0 / rank for rank, passage in enumerate(ranking[:cut], start=1) if passage in gains), 0.0)


def recall(ranking: Ranking, gains: Gains, cut: int) -> float:
    """The share of all answers that stand among the first ``cut``."""
    return sum(passage in gains for passage in ranking[:cut]) / len(gains) if gains else 0.0


MEASURES: Mapping[str, Callable[[Ranking, Gains], float]] = {
    "ndcg@10": ndcg,
    "mrr@10": reciprocal_rank,
    "recall@1": lambda ranking, gains: recall(ranking, gains, 1),
    "recall@5": lambda ranking, gains: recall(ranking, gains, 5),
    "recall@10": lambda ranking, gains: recall(ranking, gains, 10),
}


def by_query(rankings: Mapping[str, Ranking], relevant: Mapping[str, Gains]) -> dict[str, dict[str, float]]:
    """Every measure of every judged question, in the order of ``relevant``: measure, then query id."""
    return {
        name: {query_id: measure(rankings.get(query_id, ()), gains) for query_id, gains in relevant.items()}
        for name, measure in MEASURES.items()
    }


def means(scores: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The mean of each measure over all questions."""
    return {name: fsum(values.values()) / len(values) if values else 0.0 for name, values in scores.items()}


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """The chance that a positive scores above a negative, ties counting half (Mann-Whitney); 0.5 without either."""
    if not positive or not negative:
        return 0.5
    marked = sorted([(score, 1) for score in positive] + [(score, 0) for score in negative])
    above, seen, start = 0.0, 0, 0
    while start < len(marked):
        end = start
        while end < len(marked) and marked[end][0] == marked[start][0]:
            end += 1
        positives = sum(mark for _, mark in marked[start:end])
        negatives = end - start - positives
        above += positives * (seen + negatives / 2.0)
        seen += negatives
        start = end
    return above / (len(positive) * len(negative))
