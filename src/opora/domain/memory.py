"""What a person asked to be remembered across sessions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

MAX_MEMORY_ITEMS = 200
"""Items of one user in one tenant."""
MAX_MEMORY_CHARS = 600
"""Characters of one item, and of all that one question recalls: any item can be recalled."""
MAX_RECALLED_ITEMS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryItem:
    """One remembered sentence or two. ``always``: it is recalled for every question, and not by its words."""

    item_id: str
    tenant_id: str
    user_id: str
    content: str
    always: bool = False
    created_at: datetime
    updated_at: datetime
