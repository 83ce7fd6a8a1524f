"""Models that a tenant keeps in its registry: where they are, and how they are spoken to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class ModelKind(StrEnum):
    CHAT = "chat"
    EMBEDDING = "embedding"
    RERANK = "rerank"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """One endpoint. Its key is kept apart and never shown; ``has_key`` says whether there is one."""

    model_id: str
    tenant_id: str
    kind: ModelKind
    provider: str
    """How it is spoken to: a name of the table for its kind."""
    name: str
    """What people call it."""
    model: str
    """What the endpoint calls it."""
    base_url: str
    options: Mapping[str, Any] = field(default_factory=dict)
    has_key: bool = False
    dimension: int = 0
    """How many numbers an embedding model's vectors have, recorded when it first gave one; 0 before."""
    created_at: datetime
    updated_at: datetime
