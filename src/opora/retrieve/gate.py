"""Decides whether what was found can hold an answer at all, from signals that no single score gives.

A cosine alone can't tell: a model puts unrelated text close too, and a fused score always has a winner. So the gate
looks at the best cosine, at how far the best stands above the median of the list, and at how much of the question's
words the passages cover, rare words counting most. The operating point is a value of its own, to be calibrated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from opora.domain.search import SearchResult
from opora.retrieve.fuse import VECTOR
from opora.text.terms import index_terms, query_terms

COVERAGE_PASSAGES = 5
"""How many of the best passages may cover the question's words between them."""
MIN_COVERAGE = 0.34
"""The weighted share of the question's words below which words alone do not make an answer likely."""
MIN_LIST_FOR_MARGIN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """``best_vector`` is None where no passage has a cosine; ``margin`` is the best cosine over the list's median."""

    found: int
    best_vector: float | None
    margin: float
    coverage: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingPoint:
    """What is asked of the signals. ``floor`` is a cosine; 0 makes no demand on it."""

    floor: float = 0.0
    min_margin: float = 0.0
    min_coverage: float = MIN_COVERAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    nothing_found: bool
    reason: str = ""


def signals(question: str, results: Sequence[SearchResult]) -> Signals:
    """The gate's signals of a list, best first."""
    best, margin = _cosines(results)
    return Signals(
        found=len(results), best_vector=best, margin=margin, coverage=coverage(question, [_text(r) for r in results])
    )


def coverage(question: str, passages: Sequence[str]) -> float:
    """The share of the question's terms that stand in the best passages, each weighted by its rarity in the list.

    The weight is the inverse document frequency ln(1 + (n - df + 0.5) / (df + 0.5)) over the passages at hand, so a
    word that none of them has weighs most. A question without terms is covered by nothing.
    """
    terms = query_terms(question)
    if not terms or not passages:
        return 0.0
    held = [frozenset(index_terms(passage)) for passage in passages]
    best = frozenset().union(*held[:COVERAGE_PASSAGES])
    weights = {term: _idf(sum(term in tokens for tokens in held), len(held)) for term in terms}
    return sum(weight for term, weight in weights.items() if term in best) / sum(weights.values())


def decide(seen: Signals, point: OperatingPoint) -> Verdict:
    """'Nothing found' when there is nothing, or when neither the meaning nor the words come near the question."""
    if seen.found == 0:
        return Verdict(nothing_found=True, reason="no passage was found")
    if _comes_near(seen.best_vector, seen.margin, point) or seen.coverage >= point.min_coverage:
        return Verdict(nothing_found=False)
    cosine = "none" if seen.best_vector is None else f"{seen.best_vector:.3f}"
    return Verdict(
        nothing_found=True,
        reason=f"best cosine {cosine} below {point.floor:.3f}, words covered {seen.coverage:.2f} "
        f"below {point.min_coverage:.2f}",
    )


def nothing_found(question: str, results: Sequence[SearchResult], point: OperatingPoint | None = None) -> Verdict:
    """The verdict on a list of passages for a question. Words, which cost most, are looked at only when they decide."""
    point = point or OperatingPoint()
    if _comes_near(*_cosines(results), point):
        return Verdict(nothing_found=False)
    return decide(signals(question, results), point)


def _cosines(results: Sequence[SearchResult]) -> tuple[float | None, float]:
    """The best cosine, if there is any, and how far it stands above the median."""
    cosines = [result.scores[VECTOR] for result in results if VECTOR in result.scores]
    best = max(cosines) if cosines else None
    return best, best - median(cosines) if best is not None and len(cosines) >= MIN_LIST_FOR_MARGIN else 0.0


def _comes_near(best: float | None, margin: float, point: OperatingPoint) -> bool:
    return best is not None and best >= point.floor and margin >= point.min_margin


def _text(result: SearchResult) -> str:
    return f"{result.title}\n{result.context}\n{result.content}"


def _idf(frequency: int, total: int) -> float:
    return math.log(1.0 + (total - frequency + 0.5) / (frequency + 0.5))
