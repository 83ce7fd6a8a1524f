"""What a chat model may add to documents when they are taken in: chosen for each base, all of it off by default."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from opora.domain.graph import ENTITIES, RELATIONS

GENERATED_QUESTIONS = "generated_questions"
"""Where a chunk's metadata holds the questions that were made for it."""
MADE_BY_MODELS = (GENERATED_QUESTIONS, ENTITIES, RELATIONS)
"""What a chunk's metadata holds for as long as its text stands."""
QUESTION_COUNT = 3
MAX_QUESTION_COUNT = 10
TOKEN_BUDGET = 20_000
MAX_CHOSEN_TAGS = 5
"""Tags that a model may put on one document."""


class EnrichmentStep(StrEnum):
    """In the order in which they are done: what serves a whole document comes before what is paid for by the chunk."""

    SUMMARY = "summary"
    TABLES = "tables"
    TAGS = "tags"
    QUESTIONS = "questions"
    ENTITIES = "entities"
    """Wanted where a base keeps a graph (`IndexingStrategy.graph`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrichmentConfig:
    """``token_budget`` is what one version of one document may cost, prompts and replies together; 0 is no limit."""

    summary: bool = False
    tables: bool = False
    tags: bool = False
    new_tags: bool = False
    """Whether a model may name tags that the base has not got yet."""
    questions: bool = False
    base_description: bool = False
    question_count: int = QUESTION_COUNT
    token_budget: int = TOKEN_BUDGET

    @property
    def steps(self) -> tuple[EnrichmentStep, ...]:
        """The steps that are wanted for each document, as far as they are chosen here."""
        return tuple(step for step in EnrichmentStep if getattr(self, step.value, False))


@dataclass(frozen=True, slots=True, kw_only=True)
class Enrichment:
    """How far the enrichment of one document has come, for its version.

    ``tokens`` is what was spent on it; ``done`` are the steps that ended, ``reason`` says why the others will not.
    """

    document_id: str
    version: int
    tokens: int = 0
    done: tuple[EnrichmentStep, ...] = ()
    reason: str = ""
    summary: str = ""
    """What was written: a description that somebody else wrote is not replaced."""
