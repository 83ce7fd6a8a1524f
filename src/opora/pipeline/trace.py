"""Follows every candidate through the stages of the funnel and says where each ended, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from opora.domain.question import Draft
from opora.domain.search import SearchResult
from opora.domain.trace import Candidate, Drop, Mark

StageList = tuple[str, Sequence[SearchResult]]


def stages_of(draft: Draft) -> list[StageList]:
    """The lists of a draft in the order of travel."""
    stages: list[StageList] = [("found", draft.found)]
    if draft.ranked is not None:
        stages.append(("ranked", draft.ranked))
    if draft.merged is not None:
        stages.append(("merged", draft.merged))
    if draft.context:
        stages.append(("context", draft.context))
    if draft.nothing_found:
        # Nobody survives a question without an answer, so that every candidate shows why it was not used.
        stages.append(("answer", ()))
    return stages


def candidates(stages: Iterable[StageList], drops: Iterable[Drop]) -> tuple[Candidate, ...]:
    """One entry for every chunk that any stage saw: best survivors first, then by first sight.

    A candidate that was dropped twice keeps the first reason; one that stands in the last list was not dropped.
    """
    seen: dict[str, SearchResult] = {}
    marks: dict[str, list[Mark]] = {}
    last: dict[str, int] = {}
    for stage, results in stages:
        last = {}
        for rank, result in enumerate(results, start=1):
            if result.chunk_id not in seen:
                seen[result.chunk_id] = result
                marks[result.chunk_id] = _arm_marks(result)
            marks[result.chunk_id].append(Mark(stage=stage, rank=rank, score=result.score, kind=result.kind.value))
            last[result.chunk_id] = rank
    reasons: dict[str, Drop] = {}
    for drop in drops:
        reasons.setdefault(drop.chunk_id, drop)
        if drop.chunk_id not in marks:
            marks[drop.chunk_id] = []
    order = [*last, *(chunk_id for chunk_id in marks if chunk_id not in last)]
    return tuple(_candidate(chunk_id, seen.get(chunk_id), marks[chunk_id], reasons, last) for chunk_id in order)


def _arm_marks(result: SearchResult) -> list[Mark]:
    kinds = {"vector": "cosine", "keyword": "bm25"}
    return [
        Mark(stage=arm, rank=result.ranks[arm], score=result.scores.get(arm, 0.0), kind=kinds[arm])
        for arm in kinds
        if arm in result.ranks
    ]


def _candidate(
    chunk_id: str, result: SearchResult | None, marks: list[Mark], reasons: dict[str, Drop], last: dict[str, int]
) -> Candidate:
    drop = None if chunk_id in last else reasons.get(chunk_id)
    return Candidate(
        chunk_id=chunk_id,
        document_id=result.document_id if result else "",
        title=result.title if result else "",
        chunk_index=result.chunk_index if result else 0,
        marks=tuple(marks),
        dropped_at=drop.stage if drop else "",
        reason=drop.reason if drop else "",
        detail=drop.detail if drop else "",
    )


def plain(candidate: Candidate) -> dict[str, Any]:
    """A candidate as JSON holds it; field by field, since there are hundreds of them in every answer's trace."""
    return {
        "chunk_id": candidate.chunk_id,
        "document_id": candidate.document_id,
        "title": candidate.title,
        "chunk_index": candidate.chunk_index,
        "marks": [
            {"stage": mark.stage, "rank": mark.rank, "score": mark.score, "kind": mark.kind} for mark in candidate.marks
        ],
        "dropped_at": candidate.dropped_at,
        "reason": candidate.reason,
        "detail": candidate.detail,
    }
