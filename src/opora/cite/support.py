"""Judges by words and figures, without a model, how far a passage bears out a statement, and where in it.

A statement that stands there word for word is supported. Else each run of up to three sentences of the passage is
given the share of the statement's terms that it holds, each weighted by how rare it is among the sentences of all
passages at hand. Words can't tell a paraphrase in other words from an invention: 'not found' means just that.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from opora.cite.figures import missing
from opora.cite.quotes import locate
from opora.domain.conversation import Support
from opora.domain.search import SearchResult
from opora.text.sentences import sentence_spans
from opora.text.terms import index_terms, query_terms
from opora.text.tokens import negations, token_set

SUPPORTED_SHARE = 0.6
PARTLY_SHARE = 0.3
"""Chosen on 400 questions each of xquad in Russian, English and Chinese, told as statements with their answers: against
their own passage 70, 78 and 36% are supported and 29, 22 and 60% partly; against another passage of the same article
0.5, 0.2 and 0% are supported and 6.5, 4.5 and 3.5% partly. Sentences with a fifth of their words left out: 96, 98 and
63% are supported; with one number changed: 5, 5 and 1%."""
WINDOW = 3
"""Sentences that a statement may be drawn from at once."""
WIDER_GAIN = 0.1
"""A wider run must hold this much more of the statement: the shorter the span, the better it shows."""
RETOLD_SHARE = 0.5
"""From this share of its words on, a run counts as told again by the statement."""
SMALLEST_POOL = 30
"""Rarity is counted as if there were this many sentences at least: among three, every word would be common."""


_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """``start`` and ``end`` are offsets of the best supporting text in the passage, equal when there is none."""

    support: Support
    share: float = 0.0
    start: int = 0
    end: int = 0
    verbatim: bool = False
    """The statement stands there word for word."""
    exact: bool = False
    """Character by character."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    start: int
    end: int
    terms: frozenset[str]


class Evidence:
    """The passages of one answer, cut into sentences when the first statement needs it."""

    def __init__(self, passages: Iterable[SearchResult]) -> None:
        self._passages = list(passages)
        self._sentences: dict[str, list[_Sentence]] = {}
        self._holding: Counter[str] | None = None
        self._pool = 0

    def judge(self, readings: Sequence[str], content: str) -> tuple[str, Judgement]:
        """The reading of a statement that was judged, and how: the longest that stands there, else the last."""
        for reading in readings:
            found = locate(reading, content)
            if found is not None:
                return reading, Judgement(
                    support=Support.SUPPORTED,
                    share=1.0,
                    start=found.start,
                    end=found.end,
                    verbatim=True,
                    exact=found.exact,
                )
        statement = readings[-1] if readings else ""
        return statement, self._by_words(statement, content)

    def _by_words(self, statement: str, content: str) -> Judgement:
        terms = _terms(statement)
        best = self._best_run(statement, terms, content) if terms else None
        if best is None:
            return Judgement(support=Support.NOT_FOUND)
        share, start, end = best
        run = content[start:end]
        if share < PARTLY_SHARE:
            support = Support.NOT_FOUND
        elif share < SUPPORTED_SHARE or not _agrees(statement, terms, run):
            support = Support.PARTLY
        else:
            support = Support.SUPPORTED
        if support is Support.NOT_FOUND:
            start = end = 0
        return Judgement(support=support, share=round(share, 3), start=start, end=end)

    def _best_run(self, statement: str, terms: frozenset[str], content: str) -> tuple[float, int, int] | None:
        """Of runs that hold as much, one that does not speak against the statement."""
        sentences = self._cut(content)
        weights = {term: self._rarity(term) for term in terms}
        total = sum(weights.values())
        best: tuple[float, int, int] | None = None
        for size in range(1, WINDOW + 1):
            widest: tuple[float, int, int] | None = None
            for first in range(len(sentences) - size + 1):
                run = sentences[first : first + size]
                held = terms & run[0].terms.union(*(sentence.terms for sentence in run[1:]))
                share = sum(weights[term] for term in sorted(held)) / total
                if widest is None or share > widest[0]:
                    widest = (share, run[0].start, run[-1].end)
                elif share == widest[0] and share >= SUPPORTED_SHARE:
                    here, there = content[run[0].start : run[-1].end], content[widest[1] : widest[2]]
                    if not _agrees(statement, terms, there) and _agrees(statement, terms, here):
                        widest = (share, run[0].start, run[-1].end)
            if widest and (best is None or widest[0] >= best[0] + WIDER_GAIN):
                best = widest
        return best

    def _rarity(self, term: str) -> float:
        if self._holding is None:
            every = [sentence for passage in self._passages for sentence in self._cut(passage.content)]
            self._holding = Counter(term for sentence in every for term in sentence.terms)
            self._pool = max(SMALLEST_POOL, len(every))
        return math.log(1 + self._pool / (1 + self._holding[term]))

    def _cut(self, content: str) -> list[_Sentence]:
        known = self._sentences.get(content)
        if known is None:
            spans = sentence_spans(content)
            known = [_Sentence(a, b, frozenset(index_terms(content[a:b]))) for a, b in spans]
            self._sentences[content] = known
        return known


def _terms(statement: str) -> frozenset[str]:
    """The statement's words; of Chinese the single characters too, since pairs alone miss every change of wording."""
    characters = (term for term in index_terms(statement) if len(term) == 1 and _HAN.match(term))
    return frozenset(query_terms(statement)).union(characters)


def _agrees(statement: str, terms: frozenset[str], run: str) -> bool:
    """Whether the run lacks nothing that must stand there, and says no where the statement does."""
    return not missing(statement, run) and not _turned(statement, terms, run)


def _turned(statement: str, terms: frozenset[str], run: str) -> bool:
    """Whether one says no where the other does not.

    A no in the run counts when the statement tells about all that stands there: else it may belong to another clause.
    """
    denies, denied = negations(token_set(statement)), negations(token_set(run))
    if bool(denies) == bool(denied):
        return False
    said = frozenset(query_terms(run))
    return bool(denies) or len(said & terms) >= RETOLD_SHARE * len(said)
