"""Words by which a base's documents and FAQ entries are sorted, and by which a search can be limited."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """``color`` is how clients show it, in their own words; ``position`` is its place in lists."""

    tag_id: str
    tenant_id: str
    base_id: str
    name: str
    color: str = ""
    position: int = 0
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Tagged:
    """A tag with how many documents and FAQ entries have it."""

    tag: Tag
    documents: int = 0
    entries: int = 0
