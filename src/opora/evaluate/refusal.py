"""How often the gate is wrong: off-topic questions that pass it, and answerable ones that it turns away.

Two kinds of question have no answer: those of another dataset, and the dataset's own once the passages that answer
them are taken out of what was found. The second kind is the hardest there is, since its subject is in the base.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from opora.domain.search import SearchResult
from opora.evaluate.arms import HYBRID, Arms
from opora.evaluate.dataset import Dataset
from opora.evaluate.measures import auroc
from opora.retrieve.gate import OperatingPoint, confidence, decide, signals

GOLD_REMOVED = "gold removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What the gate thought of one question."""

    confidence: float
    passes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OffTopic:
    """Shares in [0, 1]; ``auroc`` is the chance that an answerable question has the higher confidence."""

    questions: int
    false_answers: float
    auroc: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The gate's mistakes at one operating point. ``off_topic`` is by the name of the set that lent the questions."""

    confidence: float
    answerable: int
    missed_answers: float
    off_topic: Mapping[str, OffTopic] = field(default_factory=dict)
    gold_removed: OffTopic


async def measure_refusal(arms: Arms, dataset: Dataset, off_topic: Mapping[str, Sequence[str]]) -> Refusal:
    """``off_topic`` holds questions by the name of their set; the base must hold no answer to any of them."""
    values = arms.settings.values
    point = OperatingPoint(
        confidence=values.answer_confidence, cosine=values.answer_floor, model_floor=arms.model_floor
    )
    answerable: list[Judged] = []
    robbed: list[Judged] = []
    for query_id, query in dataset.queries.items():
        found = await arms.rank(HYBRID, query)
        answerable.append(judge(query, found, point))
        robbed.append(judge(query, _without(found, dataset.relevant[query_id]), point))
    sets = {
        name: _off_topic([judge(query, await arms.rank(HYBRID, query), point) for query in queries], answerable)
        for name, queries in off_topic.items()
    }
    return Refusal(
        confidence=point.confidence,
        answerable=len(answerable),
        missed_answers=_share(not one.passes for one in answerable),
        off_topic=sets,
        gold_removed=_off_topic(robbed, answerable),
    )


def judge(query: str, found: Sequence[SearchResult], point: OperatingPoint) -> Judged:
    seen = signals(query, found)
    return Judged(confidence=confidence(seen, point.model_floor), passes=not decide(seen, point).nothing_found)


def _off_topic(judged: Sequence[Judged], answerable: Sequence[Judged]) -> OffTopic:
    return OffTopic(
        questions=len(judged),
        false_answers=_share(one.passes for one in judged),
        auroc=auroc([one.confidence for one in answerable], [one.confidence for one in judged]),
    )


def _without(found: Sequence[SearchResult], passage_ids: Collection[str]) -> list[SearchResult]:
    return [result for result in found if result.chunk_id not in passage_ids]


def _share(marks: Iterable[bool]) -> float:
    counted = list(marks)
    return sum(counted) / len(counted) if counted else 0.0
