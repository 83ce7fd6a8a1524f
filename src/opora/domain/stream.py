"""The events of one answer as clients see them: appended in order, addressed by offset, never changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from opora.domain.search import SearchResult


class ResponseType(StrEnum):
    AGENT_QUERY = "agent_query"
    THINKING = "thinking"
    ANSWER = "answer"
    REFERENCES = "references"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    REFLECTION = "reflection"
    SESSION_TITLE = "session_title"
    MEMORY_RECALLED = "memory_recalled"
    ERROR = "error"
    STOP = "stop"
    COMPLETE = "complete"


TERMINAL = ResponseType.COMPLETE
"""The one terminal event: it follows ``error`` and ``stop`` too, and carries ``data.finish``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEvent:
    """One event. ``event_id`` groups the deltas of one text; ``content`` is a delta."""

    response_type: ResponseType
    event_id: str = ""
    content: str = ""
    done: bool = False
    references: tuple[SearchResult, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
