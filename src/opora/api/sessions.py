"""Sessions: make, list, see, rename, pin, delete; stop an answer, and take its stream up again."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Query
from pydantic import BaseModel, Field
from starlette.responses import Response

from opora.api.envelope import Id, Paging, listed, ok
from opora.api.eventstream import EventStream, frames_of
from opora.api.fields import MAX_NAME_CHARS, Description
from opora.api.principal import Caller, Opora
from opora.api.shapes import session_json
from opora.domain.errors import NotFound
from opora.domain.search import MAX_QUERY_CHARS

router = APIRouter(prefix="/sessions", tags=["sessions"])

MAX_OFFSET_DIGITS = 12
MAX_MESSAGES = 1_000

Title = Annotated[str, Field(max_length=MAX_NAME_CHARS)]


class SessionBody(BaseModel):
    title: Title = ""
    description: Description = ""


class SessionChanges(BaseModel):
    title: Title | None = None
    description: Description | None = None


class StopBody(BaseModel):
    message_id: Id


class SaidBody(BaseModel):
    role: str = "user"
    content: Annotated[str, Field(max_length=MAX_QUERY_CHARS)] = ""


class TitleBody(BaseModel):
    """Clients may send the conversation; the first thing that the user said is taken."""

    messages: Annotated[list[SaidBody], Field(max_length=MAX_MESSAGES)] = Field(default_factory=list)

    @property
    def question(self) -> str:
        return next((said.content for said in self.messages if said.role == "user" and said.content.strip()), "")


@router.post("", status_code=201, summary="Begin a session")
async def create(app: Opora, caller: Caller, body: SessionBody | None = None) -> Response:
    body = body or SessionBody()
    scope = await app.access.tenant(caller)
    session = await app.sessions.create(scope, title=body.title, description=body.description)
    return ok(session_json(session), status=201)


@router.get("", summary="List sessions")
async def browse(app: Opora, caller: Caller, page: Paging) -> Response:
    return listed(await app.sessions.browse(await app.access.tenant(caller), page), page, session_json)


@router.get("/continue-stream/{session_id}", summary="Take an answer's stream up again", response_class=EventStream)
async def continue_stream(
    app: Opora,
    caller: Caller,
    session_id: Id,
    message_id: Annotated[Id, Query()],
    last_event_id: Annotated[str, Header()] = "",
) -> Response:
    """The whole stream from the beginning, or what follows ``Last-Event-ID``, then live to the end."""
    scope = await app.access.tenant(caller)
    message = await app.sessions.message(scope, message_id)
    if message.session_id != session_id:
        raise NotFound("There is no such message in this session.")
    frames = frames_of(
        app,
        scope,
        session_id=session_id,
        message_id=message_id,
        request_id=message.request_id,
        from_offset=_offset_behind(last_event_id),
    )
    return EventStream(frames)


@router.get("/{session_id}", summary="See a session")
async def get(app: Opora, caller: Caller, session_id: Id) -> Response:
    return ok(session_json(await app.sessions.get(await app.access.tenant(caller), session_id)))


@router.put("/{session_id}", summary="Rename or describe a session")
async def update(app: Opora, caller: Caller, session_id: Id, body: SessionChanges) -> Response:
    scope = await app.access.tenant(caller)
    session = await app.sessions.update(scope, session_id, title=body.title, description=body.description)
    return ok(session_json(session))


@router.delete("/{session_id}", summary="Delete a session with its messages")
async def delete(app: Opora, caller: Caller, session_id: Id) -> Response:
    await app.sessions.delete(await app.access.tenant(caller), session_id)
    return ok({"id": session_id})


@router.post("/{session_id}/pin", summary="Pin a session")
async def pin(app: Opora, caller: Caller, session_id: Id) -> Response:
    scope = await app.access.tenant(caller)
    return ok(session_json(await app.sessions.update(scope, session_id, is_pinned=True)))


@router.delete("/{session_id}/pin", summary="Unpin a session")
async def unpin(app: Opora, caller: Caller, session_id: Id) -> Response:
    scope = await app.access.tenant(caller)
    return ok(session_json(await app.sessions.update(scope, session_id, is_pinned=False)))


@router.post("/{session_id}/stop", summary="Stop an answer")
async def stop(app: Opora, caller: Caller, session_id: Id, body: StopBody) -> Response:
    """What was written stays. ``stopped`` is false when there was nothing to stop."""
    stopped = await app.chat.stop(await app.access.tenant(caller), session_id, body.message_id)
    return ok({"stopped": stopped})


@router.post("/{session_id}/generate_title", summary="Make a title from the first question")
async def generate_title(app: Opora, caller: Caller, session_id: Id, body: TitleBody | None = None) -> Response:
    """By the chat model; without one, the question itself, shortened. ``data`` is the title."""
    question = body.question if body else ""
    return ok(await app.titles.generate(await app.access.tenant(caller), session_id, question))


def _offset_behind(last_event_id: str) -> int:
    """The offset after the given one; what is no offset of ours means 'from the beginning'."""
    value = last_event_id.strip()
    is_offset = value.isascii() and value.isdigit() and len(value) <= MAX_OFFSET_DIGITS
    return int(value) + 1 if is_offset else 0
