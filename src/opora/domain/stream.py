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
    CITATIONS_CHECKED = "citations_checked"
    COMPLETE = "complete"


TERMINAL = ResponseType.COMPLETE
"""The one terminal event: it follows ``error`` and ``stop`` too, and carries ``data.finish``."""


FIRST = ResponseType.AGENT_QUERY
"""The event that begins a log. No other makes one: what comes for a log that is gone is refused."""


class LogState(StrEnum):
    """What has become of an answer's log."""

    ABSENT = "absent"
    """Never begun, or not kept any more."""
    RUNNING = "running"
    """Whoever writes it is alive."""
    ABANDONED = "abandoned"
    """It has no end, and nobody is left to write one."""
    COMPLETE = "complete"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEvent:
    """One event. ``event_id`` groups the deltas of one text; ``content`` is a delta."""

    response_type: ResponseType
    event_id: str = ""
    content: str = ""
    done: bool = False
    references: tuple[SearchResult, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
