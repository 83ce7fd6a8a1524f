"""Messages: a session's history, the trace of an answer, its citations beside their passages."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from opora.api.envelope import Id, ok
from opora.api.principal import Caller, Opora
from opora.api.shapes import citation_json, message_json
from opora.cite.check import check_citations, passage_of, passages_by_chunk

router = APIRouter(prefix="/messages", tags=["messages"])

MAX_MESSAGES = 100


@router.get("/{session_id}/load", summary="The last messages of a session, oldest first")
async def load(
    app: Opora,
    caller: Caller,
    session_id: Id,
    limit: Annotated[int, Query(ge=1, le=MAX_MESSAGES)] = 20,
    before_time: Annotated[datetime | None, Query(description="Only messages before this time.")] = None,
) -> Response:
    if before_time is not None and before_time.tzinfo is None:
        before_time = before_time.replace(tzinfo=UTC)
    scope = await app.access.tenant(caller)
    found = await app.sessions.messages(scope, session_id, limit=limit, before=before_time)
    return ok([message_json(message) for message in found])


@router.get("/{message_id}/trace", summary="What became of every candidate, and every setting in force")
async def trace(app: Opora, caller: Caller, message_id: Id) -> Response:
    message = await app.sessions.message(await app.access.tenant(caller), message_id)
    return ok(dict(message.trace))


@router.get("/{message_id}/citations", summary="The citations of an answer, checked against their passages")
async def citations(app: Opora, caller: Caller, message_id: Id) -> Response:
    message = await app.sessions.message(await app.access.tenant(caller), message_id)
    passages = passages_by_chunk(message.references)
    checked = message.citations or check_citations(message.content, message.references)
    return ok([citation_json(one, passage_of(one.chunk_id or one.url, passages)) for one in checked])
