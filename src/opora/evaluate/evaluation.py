"""One evaluation: every arm over every question, its figures, and what changed since an earlier run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from opora.evaluate.arms import Arms
from opora.evaluate.dataset import Dataset
from opora.evaluate.measures import Gains, Ranking, by_query, means
from opora.evaluate.refusal import Refusal, measure_refusal
from opora.evaluate.runs import Ranked
from opora.evaluate.significance import Difference, compare

Runs = Mapping[str, Mapping[str, Ranking]]
"""Passage ids by query id, by arm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """``arms`` is the mean of each measure by arm, in [0, 1]; ``changes`` the difference to the earlier run."""

    dataset: str
    passages: int
    queries: int
    profile: str
    model: str
    arms: Mapping[str, Mapping[str, float]]
    changes: Mapping[str, Mapping[str, Difference]] = field(default_factory=dict)
    refusal: Refusal | None = None
    rankings: Mapping[str, Mapping[str, Ranked]] = field(default_factory=dict)


async def evaluate(
    dataset: Dataset,
    arms: Arms,
    *,
    earlier: Runs | None = None,
    off_topic: Mapping[str, Sequence[str]] | None = None,
    progress: Callable[[str], None] = lambda what: None,
) -> Evaluation:
    """Ask all questions by all arms; ``progress`` is told what begins. The gate is judged only with ``off_topic``."""
    rankings: dict[str, Mapping[str, Ranked]] = {}
    for arm in arms.names:
        progress(arm)
        rankings[arm] = await arms.rankings(arm, dataset.queries)
    runs = {arm: {query: [hit for hit, _ in ranked] for query, ranked in of.items()} for arm, of in rankings.items()}
    refusal = None
    if off_topic is not None:
        progress("gate")
        refusal = await measure_refusal(arms, dataset, off_topic)
    return Evaluation(
        dataset=dataset.name,
        passages=len(dataset.passages),
        queries=len(dataset.queries),
        profile=arms.settings.values.profile,
        model=arms.model,
        arms={arm: means(by_query(run, dataset.relevant)) for arm, run in runs.items()},
        changes=changes(runs, earlier or {}, dataset.relevant),
        refusal=refusal,
        rankings=rankings,
    )


def changes(now: Runs, earlier: Runs, relevant: Mapping[str, Gains]) -> dict[str, dict[str, Difference]]:
    """What each measure of each arm that both have gained or lost, question by question."""
    found: dict[str, dict[str, Difference]] = {}
    for arm in now:
        if arm in earlier:
            new, old = by_query(now[arm], relevant), by_query(earlier[arm], relevant)
            found[arm] = {name: compare(list(new[name].values()), list(old[name].values())) for name in new}
    return found
