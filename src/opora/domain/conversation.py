"""Sessions, messages and the references that an answer stands on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from opora.domain.search import SearchResult


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"


class Finish(StrEnum):
    """How an answer ended. ``interrupted`` is an answer whose process died; it is flagged at the next start."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"
    STOPPED = "stopped"
    NOTHING_FOUND = "nothing_found"
    ERROR = "error"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    session_id: str
    tenant_id: str
    user_id: str
    title: str = ""
    description: str = ""
    is_pinned: bool = False
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A user's question or the answer to it; the two of one round share ``request_id``."""

    message_id: str
    session_id: str
    tenant_id: str
    request_id: str
    role: Role
    content: str = ""
    rendered_content: str = ""
    references: tuple[SearchResult, ...] = ()
    is_completed: bool = False
    finish: Finish | None = None
    error_message: str = ""
    trace: Mapping[str, Any] = field(default_factory=dict)
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One finished question with its answer, as history replays it."""

    request_id: str
    question: str
    answer: str
    references: tuple[SearchResult, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A sentence taken word for word from a passage; ``start`` and ``end`` are offsets in the passage's content."""

    chunk_id: str
    text: str
    start: int
    end: int
    score: float
