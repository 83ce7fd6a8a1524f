"""Progress windows: the stages of retrieval show as one tool call, understanding as another."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from opora.domain.question import Draft
from opora.domain.stream import ResponseType, StreamEvent
from opora.pipeline.events import EventType as E
from opora.pipeline.run import Run

WINDOWS: Mapping[E, str] = MappingProxyType(
    {
        E.QUERY_UNDERSTAND: "query_understand",
        E.CHUNK_SEARCH_PARALLEL: "knowledge_search",
        E.CHUNK_RERANK: "knowledge_search",
        E.WEB_FETCH: "knowledge_search",
        E.CHUNK_MERGE: "knowledge_search",
        E.FILTER_TOP_K: "knowledge_search",
        E.DATA_ANALYSIS: "knowledge_search",
    }
)
"""The window in which each event shows; events that are not here show none."""


class ProgressWindows:
    """Opens and closes windows as ``tool_call`` and ``tool_result`` pairs. `close` must run on every path."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._open = ""

    async def enter(self, event: E, draft: Draft) -> None:
        """Called before an event: closes a window that the event is not part of, opens its own."""
        window = WINDOWS.get(event, "")
        if window == self._open:
            return
        await self.close(draft)
        if window:
            self._open = window
            await self._send(ResponseType.TOOL_CALL, {"tool_name": window, "query": draft.query})

    async def close(self, draft: Draft | None, *, success: bool = True) -> None:
        """Close the open window, if any; a failure is ``data.success`` false, never an ``error`` event."""
        if not self._open:
            return
        window, self._open = self._open, ""
        data: dict[str, Any] = {"tool_name": window, "success": success}
        if draft is not None:
            data |= _summary(window, draft)
        await self._send(ResponseType.TOOL_RESULT, data, done=True)

    async def _send(self, kind: ResponseType, data: Mapping[str, Any], *, done: bool = False) -> None:
        event_id = str(data["tool_name"])
        await self._run.emit(
            StreamEvent(response_type=kind, event_id=event_id, done=done, data={**data, "tool_call_id": event_id})
        )


def _summary(window: str, draft: Draft) -> dict[str, Any]:
    if window == "query_understand":
        return {"rewritten_query": draft.rewritten_query, "intent": draft.intent.value}
    return {"found": len(draft.found), "kept": len(draft.passages), "warnings": list(draft.warnings)}
