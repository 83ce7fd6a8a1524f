"""The course of a conversation: fork it, take it back, clear it, export it, judge an answer."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.responses import Response

from opora.api.envelope import Id, ok
from opora.api.fields import MAX_NAME_CHARS, Ids
from opora.api.principal import Caller, Opora
from opora.api.shapes import message_json, session_json
from opora.chat.branches import MAX_COMMENT_CHARS
from opora.chat.export import markdown
from opora.domain.conversation import Thumb
from opora.text.names import content_disposition

router = APIRouter(tags=["sessions"])


class BatchBody(BaseModel):
    ids: Annotated[Ids, Field(min_length=1)]


class ForkBody(BaseModel):
    message_id: Annotated[Id, Field(description="The last message that is copied; left out: all are.")] = ""
    title: Annotated[str, Field(max_length=MAX_NAME_CHARS)] = ""


class RewindBody(BaseModel):
    message_id: Id


class FeedbackBody(BaseModel):
    thumb: Thumb = Thumb.NONE
    comment: Annotated[str, Field(max_length=MAX_COMMENT_CHARS)] = ""


@router.delete("/sessions/batch", summary="Delete several sessions")
async def delete_many(app: Opora, caller: Caller, body: BatchBody) -> Response:
    """Those of them that are one's own; ``ids`` tells which those were."""
    return ok({"ids": await app.sessions.delete_many(await app.access.tenant(caller), body.ids)})


@router.delete("/sessions/{session_id}/messages", summary="Clear a session")
async def clear(app: Opora, caller: Caller, session_id: Id) -> Response:
    return ok({"ids": await app.branches.clear(await app.access.tenant(caller), session_id)})


@router.post("/sessions/{session_id}/fork", status_code=201, summary="Go on from a message in a new session")
async def fork(app: Opora, caller: Caller, session_id: Id, body: ForkBody | None = None) -> Response:
    body = body or ForkBody()
    scope = await app.access.tenant(caller)
    return ok(session_json(await app.branches.fork(scope, session_id, body.message_id, title=body.title)), status=201)


@router.post("/sessions/{session_id}/rewind", summary="Take a conversation back to a message")
async def rewind(app: Opora, caller: Caller, session_id: Id, body: RewindBody) -> Response:
    """The message stays; what came after it is deleted, and ``ids`` tells what that was."""
    return ok({"ids": await app.branches.rewind(await app.access.tenant(caller), session_id, body.message_id)})


@router.get("/sessions/{session_id}/export", summary="A session as Markdown", response_class=Response)
async def export(app: Opora, caller: Caller, session_id: Id) -> Response:
    session, messages = await app.sessions.whole(await app.access.tenant(caller), session_id)
    return Response(
        markdown(session, messages).encode("utf-8", "replace"),
        media_type="text/markdown; charset=utf-8",
        headers={"Content-Disposition": content_disposition(f"{session.title or 'session'}.md")},
    )


@router.delete("/messages/{session_id}/{message_id}", tags=["messages"], summary="Delete a message")
async def delete_message(app: Opora, caller: Caller, session_id: Id, message_id: Id) -> Response:
    await app.branches.delete_message(await app.access.tenant(caller), session_id, message_id)
    return ok({"id": message_id})


@router.post("/messages/{message_id}/feedback", tags=["messages"], summary="Judge an answer")
async def feedback(app: Opora, caller: Caller, message_id: Id, body: FeedbackBody) -> Response:
    """A thumb and a comment; both empty take the judgement back."""
    scope = await app.access.tenant(caller)
    message = await app.branches.feedback(scope, message_id, thumb=body.thumb, comment=body.comment)
    return ok(message_json(message))
