"""Answers without a chat model: the sentences of the best passages that best answer, word for word.

A sentence's score is the mean of two numbers between 0 and 1: the share of the question's words that it holds, each
weighted by how rare it is among the sentences at hand, and its cosine to the question above the model's own floor.
An embedder whose scores were not measured (a card without a floor) is not asked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from opora.domain.conversation import Quote
from opora.domain.faq import answer_span
from opora.domain.knowledge import ChunkType
from opora.domain.search import SearchResult
from opora.models.quote_units import Unit, quote_units
from opora.ports import Embedder
from opora.text.fold import fold
from opora.text.language import detect_language
from opora.text.terms import index_terms, query_terms

PASSAGES = 3
MAX_SENTENCES = 60
MAX_QUOTES = 3
SMALLEST_POOL = 30
"""Rarity is counted as if there were this many sentences at least: among three, every word would be common."""
NEAR_BEST = 0.6
"""Further quotes reach this share of the best one's score. On the questions below the best quote holds the answer in
77.5, 82 and 77.5%, the best two in 83.5, 88 and 87%, the floor included, with 1.7 to 2.2 quotes an answer."""

FLOOR = 0.29
"""Below it nothing answers. Chosen, and so measured, on 200 questions each of xquad in Russian, English and Chinese: 3,
3.5 and 2.5% get no answer (for as many the right passage was not found at all); of questions from another field 90, 90
and 72% are turned away, and 49, 56 and 30% of those whose one right passage was taken out of the base."""
WORDS_FLOOR = 0.12
"""The floor of the words' share where no embedder is asked: 1.5, 2 and 11% get no answer; 75, 62 and 77% of questions
from another field, and 26, 25 and 70% of those without their passage, are turned away."""
ACROSS_HEIGHT = 0.21
"""Where no passage is in the question's language words can't tell, and the cosine's height above the model's floor (0
there, 1 at 1) decides: for the local model a cosine of 0.78. About a tenth of the answers is lost and next to nothing
turned away: across languages that model's scores do not separate."""
ACROSS_HEIGHT_MIXED = 0.43
"""The same where other passages are in the question's language; for the local model 0.84, which 95% of questions from
another field do not reach."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A unit of a passage and its place in the order of passages."""

    passage: SearchResult
    unit: Unit
    terms: AbstractSet[str]
    language: str


@dataclass(frozen=True, slots=True)
class Scored:
    candidate: Candidate
    score: float
    floor: float


class SentenceQuoter:
    """An `ExtractiveAnswerer` by words and, where there is one, the embedder."""

    def __init__(
        self, embedder: Embedder | None = None, *, max_quotes: int = MAX_QUOTES, floor: float | None = None
    ) -> None:
        """``floor`` replaces the measured one; 0 lets everything through."""
        self._embedder = embedder
        self._max_quotes = max_quotes
        self._floor = floor

    async def quotes(self, question: str, passages: Sequence[SearchResult]) -> list[Quote]:
        candidates = collect(passages[:PASSAGES])
        terms = list(dict.fromkeys(query_terms(question)))
        if not candidates or not terms:
            return []
        shares = coverage(terms, [candidate.terms for candidate in candidates])
        kept = most_covering(candidates, shares)
        candidates, shares = [candidates[place] for place in kept], [shares[place] for place in kept]
        heights = await self._heights(question, candidates)
        if heights is None:
            scored = [Scored(c, share, self._limit(WORDS_FLOOR)) for c, share in zip(candidates, shares, strict=True)]
        else:
            scored = self._fused(detect_language(question), candidates, shares, heights)
        return choose(scored, self._max_quotes)

    def _fused(
        self, language: str, candidates: Sequence[Candidate], shares: Sequence[float], heights: Sequence[float]
    ) -> list[Scored]:
        is_mixed = any(candidate.language == language for candidate in candidates)
        across = min(FLOOR, 0.5 * (ACROSS_HEIGHT_MIXED if is_mixed else ACROSS_HEIGHT))
        return [
            Scored(c, 0.5 * share + 0.5 * height, self._limit(FLOOR if c.language == language else across))
            for c, share, height in zip(candidates, shares, heights, strict=True)
        ]

    def _limit(self, measured: float) -> float:
        return measured if self._floor is None else self._floor

    async def _heights(self, question: str, candidates: Sequence[Candidate]) -> list[float] | None:
        """How far each candidate's cosine to the question lies from the model's floor (0) to 1, cut to that range.

        None without an embedder of measured scores.
        """
        if self._embedder is None or (base := self._embedder.card.vector_threshold) <= 0:
            return None
        query = await self._embedder.embed_query(question)
        rows = await self._embedder.embed_passages([candidate.unit.scored for candidate in candidates])
        return [min(1.0, max(0.0, (float(cosine) - base) / (1.0 - base))) for cosine in rows @ query]


def collect(passages: Sequence[SearchResult]) -> list[Candidate]:
    """The units of the passages, no text twice: overlapping chunks share sentences.

    A heading that a passage stands under answers nothing, though it often has the question's words.
    """
    seen: set[str] = set()
    found: list[Candidate] = []
    for passage in passages:
        # By passage and not by sentence: one name in Latin letters does not make a Russian line English.
        language = detect_language(passage.content)
        headings = {_key(heading) for heading in passage.place.heading_path}
        for unit in _units(passage):
            key = _key(passage.content[unit.start : unit.end])
            if key not in seen and key not in headings:
                seen.add(key)
                found.append(Candidate(passage, unit, frozenset(index_terms(unit.scored)), language))
    return found


def _units(passage: SearchResult) -> list[Unit]:
    """An entry of a FAQ is quoted by its answer, whole, which is understood together with its question."""
    span = answer_span(passage.content) if passage.chunk_type is ChunkType.FAQ else None
    return quote_units(passage.content) if span is None else [Unit(*span, scored=passage.content)]


def _key(text: str) -> str:
    return " ".join(fold(text).split())


def most_covering(candidates: Sequence[Candidate], shares: Sequence[float]) -> list[int]:
    """Which candidates are worth an embedding when there are many: those with most of the question's words."""
    ranked = sorted(range(len(candidates)), key=lambda place: -shares[place])
    return sorted(ranked[:MAX_SENTENCES])


def coverage(terms: Sequence[str], units: Sequence[AbstractSet[str]]) -> list[float]:
    """For each unit the share of the terms that it holds, weighted by BM25's inverse frequency among the units."""
    count = max(len(units), SMALLEST_POOL)
    weights = {}
    for term in terms:
        holding = sum(term in unit for unit in units)
        weights[term] = math.log(1 + (count - holding + 0.5) / (holding + 0.5))
    total = sum(weights.values())
    return [sum(weight for term, weight in weights.items() if term in unit) / total for unit in units]


def choose(scored: Sequence[Scored], limit: int) -> list[Quote]:
    """The best ones at or above their floor and near the best, best first, none inside another."""
    passing = [entry for entry in scored if entry.score >= entry.floor and entry.score > 0]
    quotes: list[Quote] = []
    # The sort is stable: of equal ones the first in the best passage comes first.
    for entry in sorted(passing, key=lambda entry: -entry.score):
        passage, unit = entry.candidate.passage, entry.candidate.unit
        text = passage.content[unit.start : unit.end]
        if len(quotes) == limit or (quotes and entry.score < NEAR_BEST * quotes[0].score):
            break
        if not any(text in other.text or other.text in text for other in quotes):
            quotes.append(
                Quote(chunk_id=passage.chunk_id, text=text, start=unit.start, end=unit.end, score=entry.score)
            )
    return quotes
