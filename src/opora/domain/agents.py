"""Agents: bundles of what a question may choose, under one name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

QUICK_ANSWER = "builtin-quick-answer"
"""The agent that is always there: everything as the tenant has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """``settings`` are retrieval settings by name and ``prompts`` texts by template id; both stand above the tenant's.

    ``base_ids`` None asks all knowledge bases, () none of them.
    """

    agent_id: str
    tenant_id: str
    name: str
    description: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    base_ids: tuple[str, ...] | None = None
    summary_model_id: str = ""
    query_understand_model_id: str = ""
    vlm_model_id: str = ""
    is_builtin: bool = False
    created_at: datetime
    updated_at: datetime

    @property
    def model_ids(self) -> frozenset[str]:
        """All models that it names."""
        reranker = str(self.settings.get("rerank_model_id") or "")
        return frozenset({self.summary_model_id, self.query_understand_model_id, self.vlm_model_id, reranker}) - {""}


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantSettings:
    """What a tenant changed of the installation: retrieval settings by name, texts by template id."""

    retrieval: Mapping[str, Any] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
