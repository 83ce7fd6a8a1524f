"""Writes events as server-sent event frames, ready to go out as bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Set
from datetime import date, datetime
from typing import Any

from opora.domain.stream import ResponseType, StreamEvent
from opora.stream.results import result_json

HEADERS: Mapping[str, str] = {
    "Cache-Control": "no-cache",
    "Connection": "keep-alive",
    "X-Accel-Buffering": "no",
}
CONTENT_TYPE = "text/event-stream"
KEEP_ALIVE = b": keep-alive\n\n"
"""A comment that readers ignore; it keeps proxies from closing a quiet stream."""


def retry_frame(milliseconds: int) -> bytes:
    """Tells readers how long to wait before they come back to a broken stream."""
    return b"retry: %d\n\n" % milliseconds


def frame(offset: int | None, event: StreamEvent, *, request_id: str, session_id: str, message_id: str) -> bytes:
    """One event with its offset as ``id``, so that ``Last-Event-ID`` resumes behind it.

    An event that stands in no log has no offset: a reader that comes back resumes where it was.

    The ids of session and message stand on the first event, `agent_query`.
    """
    body: dict[str, Any] = {
        "id": request_id,
        "response_type": event.response_type.value,
        "content": event.content,
        "done": event.done,
    }
    if event.references:
        body["knowledge_references"] = [result_json(result) for result in event.references]
    if event.response_type is ResponseType.AGENT_QUERY:
        body["session_id"] = session_id
        body["assistant_message_id"] = message_id
    if event.data:
        body["data"] = event.data
    # A lone surrogate, which a careless model can send, has no UTF-8 form.
    data = json.dumps(body, ensure_ascii=False, separators=(",", ":"), default=_plain).encode("utf-8", "replace")
    number = b"" if offset is None else b"id: %d\n" % offset
    return b"%bevent: message\ndata: %b\n\n" % (number, data)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Set):
        return sorted(value, key=str)
    if isinstance(value, datetime | date):
        return value.isoformat()
    return str(value)
