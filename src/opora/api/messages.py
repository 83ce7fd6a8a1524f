"""Messages: a session's history, the trace of an answer, its citations beside their passages."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from starlette.responses import Response

from opora.api.envelope import Id, ok
from opora.api.fields import Ids, QueryText, given
from opora.api.principal import Caller, Opora
from opora.api.shapes import citation_json, found_json, message_json
from opora.cite.check import check_citations, passage_of, passages_by_chunk
from opora.domain.search import DOOR_MATCH_COUNT, MAX_DOOR_MATCH_COUNT, SearchMode

router = APIRouter(prefix="/messages", tags=["messages"])

MAX_MESSAGES = 100


class Mode(StrEnum):
    KEYWORD = "keyword"
    VECTOR = "vector"
    HYBRID = "hybrid"


_MODES = {Mode.KEYWORD: SearchMode.FULLTEXT, Mode.VECTOR: SearchMode.SEMANTIC, Mode.HYBRID: SearchMode.HYBRID}


class MessageSearch(BaseModel):
    query: QueryText
    mode: Annotated[Mode | None, Field(description="Left out: hybrid with an embedding model, else keyword.")] = None
    limit: Annotated[int, Field(ge=1, le=MAX_DOOR_MATCH_COUNT)] = DOOR_MATCH_COUNT
    session_ids: Ids | None = None


@router.post("/search", summary="Search one's own earlier questions and answers")
async def search(app: Opora, caller: Caller, body: MessageSearch) -> Response:
    found = await app.history.search(
        await app.access.tenant(caller),
        body.query,
        mode=None if body.mode is None else _MODES[body.mode],
        limit=body.limit,
        session_ids=given(body.session_ids),
    )
    beside: dict[str, Any] = {"warnings": list(found.warnings)} if found.warnings else {}
    return ok([found_json(one) for one in found.rounds], **beside)


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


@router.get("/{message_id}/images/{image_id}", summary="A picture that came with a question")
async def image(app: Opora, caller: Caller, message_id: Id, image_id: Id) -> Response:
    picture = await app.branches.picture(await app.access.tenant(caller), message_id, image_id)
    return Response(picture.data, media_type=picture.media_type, headers={"Content-Disposition": "inline"})


@router.get("/{message_id}/citations", summary="The citations of an answer, checked against their passages")
async def citations(app: Opora, caller: Caller, message_id: Id) -> Response:
    message = await app.sessions.message(await app.access.tenant(caller), message_id)
    passages = passages_by_chunk(message.references)
    checked = message.citations or check_citations(message.content, message.references)
    return ok([citation_json(one, passage_of(one.chunk_id or one.url, passages)) for one in checked])
