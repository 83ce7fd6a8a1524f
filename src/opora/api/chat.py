"""Ask a question; the answer comes as server-sent events and goes on without its reader."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.responses import Response

from opora.api.envelope import Id
from opora.api.eventstream import EventStream, frames_of
from opora.api.fields import Cosine, Ids, QueryText, Share, given
from opora.api.principal import Caller, Opora
from opora.domain.errors import InvalidInput

router = APIRouter(tags=["chat"])

_NOT_YET = ("images", "attachments")


class Overrides(BaseModel, extra="allow"):
    """Retrieval settings for this question alone; a name that is no setting is refused."""

    vector_threshold: Cosine | None = None
    keyword_threshold: Share | None = None


class ChatBody(BaseModel):
    query: QueryText
    knowledge_base_ids: Ids | None = None
    knowledge_ids: Ids | None = None
    tag_ids: Ids | None = None
    web_search_enabled: bool | None = None
    images: list[Any] = Field(default_factory=list)
    attachments: list[Any] = Field(default_factory=list)
    explain: Annotated[bool, Field(description="Keep what became of every candidate in the message's trace.")] = False
    settings: Overrides = Field(default_factory=Overrides)

    def overrides(self) -> dict[str, Any]:
        chosen = self.settings.model_dump(exclude_none=True)
        if self.web_search_enabled is not None:
            chosen.setdefault("web_search_enabled", self.web_search_enabled)
        return chosen


@router.post("/knowledge-chat/{session_id}", summary="Ask a question", response_class=EventStream)
async def knowledge_chat(app: Opora, caller: Caller, session_id: Id, body: ChatBody) -> Response:
    """The first event is ``agent_query`` with the ids to come back by, the last one ``complete``.

    A reader that leaves does not stop the answer: `stop` does.
    """
    for field in _NOT_YET:
        if getattr(body, field):
            raise InvalidInput.of(field, f"{field}: this server does not take them with a question.")
    await app.sessions.get(await app.access.tenant(caller), session_id)
    scope = await app.access.bases(
        caller,
        given(body.knowledge_base_ids),
        document_ids=given(body.knowledge_ids),
        tag_ids=given(body.tag_ids),
    )
    asked = await app.chat.ask(scope, session_id, body.query, overrides=body.overrides(), explain=body.explain)
    frames = frames_of(
        app,
        scope,
        session_id=session_id,
        message_id=asked.assistant_message_id,
        request_id=asked.request_id,
    )
    response = EventStream(frames)
    response.headers["X-Session-ID"] = session_id
    response.headers["X-Message-ID"] = asked.assistant_message_id
    return response
