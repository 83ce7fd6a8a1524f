"""The numbers that shape one question, each with its default and, once resolved, where it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any


class Origin(StrEnum):
    """Who set a value; a later one in this order overrides an earlier one."""

    DEFAULT = "default"
    INSTALLATION = "installation"
    MODEL = "model"
    TENANT = "tenant"
    AGENT = "agent"
    REQUEST = "request"


class FallbackStrategy(StrEnum):
    FIXED = "fixed"
    MODEL = "model"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalSettings:
    """Everything about finding and ranking that a tenant, a base, an agent or a request may set."""

    profile: str = "described"
    embedding_top_k: int = 50
    vector_threshold: float | None = None
    """None takes the floor of the model's card; 0 switches the filter off."""
    keyword_threshold: float = 0.3
    """A share of the best keyword score of the list."""
    rrf_k: int = 60
    vector_weight: float = 0.7
    keyword_weight: float = 0.3
    rerank_model_id: str = ""
    """A reranking model of the registry; empty takes that of the installation."""
    rerank_top_k: int = 10
    rerank_threshold: float = 0.3
    rerank_fallback_min_score: float = 0.15
    mmr_lambda: float = 0.7
    faq_priority_enabled: bool = True
    faq_direct_answer_threshold: float = 0.9
    faq_score_boost: float = 1.2
    max_rounds: int = 5
    enable_rewrite: bool = True
    enable_query_expansion: bool = False
    citation_enabled: bool = True
    data_analysis_enabled: bool = False
    web_search_enabled: bool = False
    web_fetch_enabled: bool = False
    web_fetch_top_n: int = 3
    temperature: float = 0.3
    top_p: float | None = None
    """None leaves it, like the two below, to the model's provider."""
    seed: int | None = None
    thinking: bool | None = None
    max_completion_tokens: int = 2048
    context_token_budget: int = 6000
    fallback_strategy: FallbackStrategy = FallbackStrategy.FIXED
    fallback_response: str = ""
    """Empty takes the fixed text in the question's language."""
    answer_floor: float = 0.0
    """A cosine under which retrieval counts as 'nothing found' unless the words cover the question; 0 is none."""
    answer_confidence: float = 0.5
    """How sure retrieval must be that an answer was found; 0 lets everything pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effective:
    """Settings in force for one question, and the origin of each value by name."""

    values: RetrievalSettings = field(default_factory=RetrievalSettings)
    origins: Mapping[str, Origin] = field(default_factory=dict)

    def origin(self, name: str) -> Origin:
        return self.origins.get(name, Origin.DEFAULT)


def resolve(*layers: tuple[Origin, Mapping[str, Any]]) -> Effective:
    """Lay settings over the defaults, later layers on top; ``None`` in a layer means 'not set here'.

    Unknown names are ignored here: edges refuse them before.
    """
    names = {f.name for f in fields(RetrievalSettings)}
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    for origin, layer in layers:
        for name, value in layer.items():
            if name in names and value is not None:
                values[name] = value
                origins[name] = origin
    return Effective(values=replace(RetrievalSettings(), **values), origins=origins)
