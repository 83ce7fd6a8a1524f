"""Decides whether what was found can hold an answer at all, from signals that no single score gives.

A cosine alone can't tell: a model puts unrelated text close too, and differently by language. A fused score can't
either: it always has a winner. So a logistic weighs three signals: how close the best passage comes to the question
above the model's own floor, how far it stands out of the list, and how many of the question's words one of the best
passages holds, rare words counting most. Where a signal means nothing, the others decide with weights of their own.

The weights were fitted with the bundled model on xquad-ru, fastapi-ru and cmrc2018-zh, each answerable against the
questions of another, and put where of these at most 5% of the answerable are refused and at most 10% of the others
pass; docs/evaluation.md tells what they give elsewhere.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from opora.domain.search import SearchResult
from opora.retrieve.fuse import VECTOR
from opora.text.language import CHINESE, detect_language
from opora.text.terms import index_terms, query_terms

CONFIDENCE = 0.5
"""The operating point: what is less likely to hold an answer counts as nothing found."""
COVERAGE_PASSAGES = 5
"""How many of the best passages may hold the question's words; the one that holds most counts."""
COVERAGE_CHARS = 2_000
"""Of each of them: a chunk is shorter, and a question must not wait for a passage that is not."""
LANGUAGE_CHARS = 300
RARITY_PASSAGES = 50
"""Rarity is counted as if there were this many passages at least: among three every word would be common."""
_LATIN = re.compile("[A-Za-z]+")
"""Names in Latin letters, however many, do not make a question foreign to a text in its other letters."""
MIN_COVERAGE = 0.34
"""The share of the question's words that makes up for a cosine below a floor that somebody set."""
MIN_LIST = 5
"""A shorter list has no median to stand out of: a margin that tells nothing either way stands in."""
NEUTRAL_MARGIN = 0.25
NEUTRAL_COVERAGE = 0.3
"""Stands in where the passages are in another language than the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A logistic: the signals' weights and the constant that puts the operating point at one half."""

    constant: float
    closeness: float = 0.0
    margin: float = 0.0
    coverage: float = 0.0
    """On the square root of the share: the first words tell most."""
    unspaced: float = 0.0
    """For a question in a script without spaces, whose terms are pairs of characters: fewer of them fit."""


MEANING_AND_WORDS = Weights(constant=-17.3, closeness=17.1, margin=12.7, coverage=12.7)
MEANING_ALONE = Weights(constant=-13.6, closeness=12.3, margin=22.8)
"""For a question put in other words than its passage. Strict, since it overrules the words: at most 0.5% of the
off-topic questions pass by it."""
ACROSS_LANGUAGES = Weights(constant=-6.0, closeness=11.8, margin=19.8)
"""Where the closest passage is in another language, words tell nothing. Lenient: the scores hardly separate."""
UNMEASURED_MODEL = Weights(constant=-9.4, margin=22.2, coverage=11.0)
"""Where the model's card has no floor, a cosine by itself means nothing."""
WORDS_ALONE = Weights(constant=-10.8, coverage=18.4, unspaced=1.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """What the gate sees of a list.

    ``best`` is the best cosine, None where no passage has one. ``margin`` is how much of the way from the list's median
    cosine to 1 the best has gone; ``coverage`` the weighted share of the question's terms that one passage holds.
    """

    found: int
    best: float | None = None
    margin: float = NEUTRAL_MARGIN
    coverage: float = 0.0
    across: bool = False
    """The closest passage is in another language than the question."""
    unspaced: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingPoint:
    """``confidence`` from 0, which lets everything pass, to 1; ``model_floor`` is the floor of the model's card.

    ``cosine`` is a floor that somebody set on top: below it only the question's words let a list pass; 0 is none.
    """

    confidence: float = CONFIDENCE
    model_floor: float = 0.0
    cosine: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    nothing_found: bool
    reason: str = ""


def nothing_found(question: str, results: Sequence[SearchResult], point: OperatingPoint | None = None) -> Verdict:
    """The verdict on a list of passages, best first. Words, which cost most, are looked at only when they decide."""
    point = point or OperatingPoint()
    if results and point.confidence <= 0 and not point.cosine:
        return Verdict(nothing_found=False)
    seen = _by_meaning(results)
    if _is_certain(seen, point):
        return Verdict(nothing_found=False)
    return decide(signals(question, results), point)


def decide(seen: Signals, point: OperatingPoint) -> Verdict:
    """'Nothing found' when there is nothing, or when an answer in it is less likely than the operating point asks."""
    if seen.found == 0:
        return Verdict(nothing_found=True, reason="no passage was found")
    if seen.best is not None and seen.best < point.cosine and seen.coverage < MIN_COVERAGE:
        return Verdict(nothing_found=True, reason=f"best cosine {seen.best:.3f} below {point.cosine:.3f}")
    value = confidence(seen, point.model_floor)
    if value >= point.confidence:
        return Verdict(nothing_found=False)
    cosine = "none" if seen.best is None else f"{seen.best:.3f}"
    return Verdict(
        nothing_found=True,
        reason=f"confidence {value:.2f} below {point.confidence:.2f} (best cosine {cosine}, margin {seen.margin:.2f}, "
        f"words covered {seen.coverage:.2f})",
    )


def signals(question: str, results: Sequence[SearchResult]) -> Signals:
    """All signals of a list, best first."""
    seen = _by_meaning(results)
    languages = {detect_language(question, ""), detect_language(_LATIN.sub("", question), "")} - {""}
    closest = max(results, key=lambda result: result.scores.get(VECTOR, -1.0), default=None)
    spoken = detect_language(closest.content[:LANGUAGE_CHARS], "") if closest is not None else ""
    return Signals(
        found=seen.found,
        best=seen.best,
        margin=seen.margin,
        coverage=coverage(question, [_text(result) for result in results]),
        across=bool(languages and spoken) and spoken not in languages,
        unspaced=CHINESE in languages,
    )


def confidence(seen: Signals, model_floor: float) -> float:
    """How likely the list holds an answer, 0 to 1; ``model_floor`` is 0 where nobody measured the model."""
    if seen.found == 0:
        return 0.0
    if seen.best is None:
        return _logistic(WORDS_ALONE, seen)
    if model_floor <= 0:
        coverage = max(seen.coverage, NEUTRAL_COVERAGE) if seen.across else seen.coverage
        return _logistic(UNMEASURED_MODEL, seen, coverage=coverage)
    closeness = (seen.best - model_floor) / (1.0 - model_floor)
    ways = (MEANING_AND_WORDS, MEANING_ALONE, *((ACROSS_LANGUAGES,) if seen.across else ()))
    return max(_logistic(weights, seen, closeness=closeness) for weights in ways)


def coverage(question: str, passages: Sequence[str]) -> float:
    """The largest share of the question's terms that one of the best passages holds, each weighted by its rarity.

    The weight is the inverse document frequency ln(1 + (n - df + 0.5) / (df + 0.5)) over the passages at hand, so a
    word that none of them has weighs most. Below the best ones a term is looked for as a run of letters: for its
    rarity that is near enough, and thirty times faster. A question without terms is covered by nothing.
    """
    terms = frozenset(query_terms(question))
    if not terms or not passages:
        return 0.0
    held = [terms.intersection(index_terms(passage[:COVERAGE_CHARS])) for passage in passages[:COVERAGE_PASSAGES]]
    rest = [passage.lower().replace("ё", "е") for passage in passages[COVERAGE_PASSAGES:]]
    count = max(len(passages), RARITY_PASSAGES)
    weights = {
        term: _idf(sum(term in has for has in held) + sum(term in text for text in rest), count) for term in terms
    }
    # Sorted, for a sum depends on its order in the last digit, and the order of a set on the run.
    total = math.fsum(weights.values())
    return max(math.fsum(weights[term] for term in has) for has in held) / total


def _by_meaning(results: Sequence[SearchResult]) -> Signals:
    cosines = [result.scores[VECTOR] for result in results if VECTOR in result.scores]
    if not cosines:
        return Signals(found=len(results))
    best, middle = max(cosines), median(cosines)
    has_margin = len(cosines) >= MIN_LIST and middle < 1.0
    return Signals(
        found=len(results), best=best, margin=(best - middle) / (1.0 - middle) if has_margin else NEUTRAL_MARGIN
    )


def _is_certain(seen: Signals, point: OperatingPoint) -> bool:
    """Whether the meaning alone lets the list pass, whatever its words."""
    if seen.best is None or point.model_floor <= 0 or seen.best < point.cosine:
        return False
    closeness = (seen.best - point.model_floor) / (1.0 - point.model_floor)
    return _logistic(MEANING_ALONE, seen, closeness=closeness) >= point.confidence


def _logistic(weights: Weights, seen: Signals, *, closeness: float = 0.0, coverage: float | None = None) -> float:
    value = (
        weights.constant
        + weights.closeness * closeness
        + weights.margin * seen.margin
        + weights.coverage * math.sqrt(seen.coverage if coverage is None else coverage)
        + weights.unspaced * seen.unspaced
    )
    return 1.0 / (1.0 + math.exp(-max(-700.0, min(700.0, value))))


def _text(result: SearchResult) -> str:
    return f"{result.title}\n{result.context}\n{result.content}"


def _idf(frequency: int, total: int) -> float:
    return math.log(1.0 + (total - frequency + 0.5) / (frequency + 0.5))
