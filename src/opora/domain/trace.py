"""What became of every candidate: the mark it got at each stage and, where it ended early, the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from opora.domain.search import SearchResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """A candidate that a stage let go. ``reason`` is a stable word, ``detail`` says more for people.

    Reasons: ``below_threshold``, ``not_in_database``, ``over_match_count``, ``duplicate``, ``merged``,
    ``not_diverse``, ``over_top_k``, ``negative_question``, ``over_budget``, ``below_floor``.
    """

    chunk_id: str
    stage: str
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What a stage of the funnel gives on: results best first, what it let go, and what went wrong on the way."""

    results: tuple[SearchResult, ...] = ()
    drops: tuple[Drop, ...] = ()
    warnings: tuple[str, ...] = ()
    diagnostics: Mapping[str, int] = field(default_factory=dict)
    """Counts for the trace, such as ``images_scored`` and ``images_kept``."""
    model_floor: float | None = None
    """The floor of the model whose cosines the results have, 0 where it is not known; None: the installation's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Rank (from 1) and score of a candidate after a stage."""

    stage: str
    rank: int
    score: float
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    chunk_id: str
    document_id: str
    title: str
    chunk_index: int
    marks: tuple[Mark, ...]
    dropped_at: str = ""
    reason: str = ""
    detail: str = ""
