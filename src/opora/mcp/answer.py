"""Asks a question in a conversation and waits for the answer: its text with numbers, and what bears them out."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from opora.mcp.service import API, Refused, Service

TITLE = "Asked by an assistant"
QUOTE_CHARS = 1_000
STOP_SECONDS = 3.0


async def ask(
    service: Service,
    question: str,
    *,
    base_ids: list[str] | None,
    session_id: str | None,
    progress: Callable[[str], Awaitable[None]],
) -> dict[str, Any]:
    """Raises `Refused` for a question that could not be answered. A call that is given up stops the answer."""
    if not session_id:
        session_id = str((await service.call("POST", f"{API}/sessions", json={"title": TITLE}))["data"]["id"])
    body = {"query": question, "knowledge_base_ids": base_ids, "disable_title": True}
    message_id = ""
    said: list[str] = []
    try:
        async for event in service.events(f"{API}/knowledge-chat/{session_id}", body):
            kind, data = event.get("response_type"), event.get("data") or {}
            if kind == "agent_query":
                message_id = str(event.get("assistant_message_id") or data.get("assistant_message_id", ""))
            elif kind == "answer" and event.get("content"):
                said.append(str(event["content"]))
                await progress(f"{sum(map(len, said))} characters written")
            elif kind == "references":
                await progress("Passages found")
            elif kind == "error":
                raise Refused(f"The question could not be answered: {event.get('content', '')}")
    except asyncio.CancelledError:
        await _stop(service, session_id, message_id)
        raise
    checked = (await service.call("GET", f"{API}/messages/{message_id}/citations"))["data"] if message_id else []
    return {
        "answer": numbered("".join(said), checked),
        "citations": [_told(citation) for citation in checked],
        "session_id": session_id,
        "message_id": message_id,
    }


def numbered(answer: str, citations: Sequence[Mapping[str, Any]]) -> str:
    """The answer with ``[1]`` in the place of each citation, which stands between two offsets of it."""
    parts: list[str] = []
    reached = 0
    for citation in sorted(citations, key=lambda one: int(one["start"])):
        if int(citation["start"]) >= reached:
            parts += [answer[reached : int(citation["start"])], f"[{citation['number']}]"]
            reached = int(citation["end"])
    return "".join((*parts, answer[reached:]))


def _told(citation: Mapping[str, Any]) -> dict[str, Any]:
    place = citation.get("place") or {}
    told = {
        "number": citation["number"],
        "title": citation["title"],
        "support": citation["support"],
        "statement": citation["statement"],
        "quote": str(citation.get("content", ""))[:QUOTE_CHARS],
        "document_id": citation["knowledge_id"],
        "chunk_id": citation["chunk_id"],
        "url": citation["url"],
    }
    return told | ({"page": place["page"]} if place.get("page") else {})


async def _stop(service: Service, session_id: str, message_id: str) -> None:
    """Nobody waits for it any more."""
    if message_id:
        stop = service.call("POST", f"{API}/sessions/{session_id}/stop", json={"message_id": message_id})
        with contextlib.suppress(Refused, TimeoutError):
            await asyncio.wait_for(asyncio.shield(asyncio.ensure_future(stop)), STOP_SECONDS)
