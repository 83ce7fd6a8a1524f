"""Writes events as the lines that a log outside this process keeps, and reads them back."""

from __future__ import annotations

import json
from datetime import date, datetime
from typing import Any

from opora.domain.codec import build, plain
from opora.domain.search import SearchResult
from opora.domain.stream import TERMINAL, ResponseType, StreamEvent


def kind_prefix(kind: ResponseType) -> bytes:
    """What the line of an event of this kind begins with: a log can tell kinds apart without reading JSON."""
    return b'{"type":"%b",' % kind.value.encode()


TERMINAL_PREFIX = kind_prefix(TERMINAL)


def to_line(event: StreamEvent) -> bytes:
    """One line of JSON; text of a careless model may hold lone surrogates, which are kept."""
    fields: dict[str, Any] = {"type": event.response_type.value, "id": event.event_id, "content": event.content}
    if event.done:
        fields["done"] = True
    if event.references:
        fields["references"] = [plain(result) for result in event.references]
    if event.data:
        fields["data"] = plain(event.data)
    line = json.dumps(fields, ensure_ascii=False, separators=(",", ":"), default=_text)
    return line.encode("utf-8", "surrogatepass")


def from_line(line: bytes) -> StreamEvent:
    fields = json.loads(line.decode("utf-8", "surrogatepass"))
    return StreamEvent(
        response_type=ResponseType(fields["type"]),
        event_id=fields["id"],
        content=fields["content"],
        done=fields.get("done", False),
        references=tuple(build(SearchResult, one) for one in fields.get("references", ())),
        data=fields.get("data", {}),
    )


def _text(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime | date) else str(value)
