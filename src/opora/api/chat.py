"""Ask a question, or ask it again; the answer comes as server-sent events and goes on without its reader."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field, model_validator
from starlette.responses import Response

from opora.api.envelope import Id
from opora.api.eventstream import EventStream, frames_of
from opora.api.fields import MAX_NAME_CHARS, Cosine, Ids, QueryText, Share, given
from opora.api.principal import App, Caller, Opora
from opora.chat.settings import checked
from opora.domain.conversation import Attachment, Beside, Message
from opora.domain.errors import InvalidInput
from opora.domain.scope import Principal

router = APIRouter(tags=["chat"])

MAX_QUOTED_CHARS = 8_000
MAX_ATTACHMENTS = 10
MAX_ATTACHED_CHARS = 32_000
"""Of all attachments together."""


class Overrides(BaseModel, extra="allow"):
    """Retrieval settings for this question alone; a name that is no setting is refused."""

    vector_threshold: Cosine | None = None
    keyword_threshold: Share | None = None

    @model_validator(mode="before")
    @classmethod
    def _settings_there_are(cls, given: object) -> object:
        """Names and values are looked at before anything else is done with them."""
        if isinstance(given, dict):
            checked({name: value for name, value in given.items() if name not in cls.model_fields})
        return given


class Choice(BaseModel):
    """What is chosen for a question: kept with it, so that it can be asked again."""

    knowledge_base_ids: Ids | None = None
    knowledge_ids: Ids | None = None
    tag_ids: Ids | None = None
    web_search_enabled: bool | None = None
    summary_model_id: Annotated[Id, Field(description="The chat model of this question, by its id.")] = ""
    query_understand_model_id: Annotated[Id, Field(description="A smaller one that rewrites the question.")] = ""
    explain: Annotated[bool, Field(description="Keep what became of every candidate in the message's trace.")] = False
    settings: Overrides = Field(default_factory=Overrides)

    def overrides(self) -> dict[str, Any]:
        chosen = self.settings.model_dump(exclude_none=True)
        if self.web_search_enabled is not None:
            chosen.setdefault("web_search_enabled", self.web_search_enabled)
        return chosen

    def kept(self) -> dict[str, Any]:
        return self.model_dump(mode="json", include=set(Choice.model_fields), exclude_defaults=True)


class AttachmentBody(BaseModel):
    name: Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS)]
    content: Annotated[str, Field(max_length=MAX_ATTACHED_CHARS)]


class ChatBody(Choice):
    query: QueryText
    quoted_context: Annotated[str, Field(max_length=MAX_QUOTED_CHARS)] = ""
    attachments: Annotated[list[AttachmentBody], Field(max_length=MAX_ATTACHMENTS)] = Field(default_factory=list)
    images: list[Any] = Field(default_factory=list)
    disable_title: Annotated[bool, Field(description="Leave a session without a title as it is.")] = False

    def beside(self) -> Beside:
        """Raises `InvalidInput` when the attachments are too long together."""
        if sum(len(one.content) for one in self.attachments) > MAX_ATTACHED_CHARS:
            raise InvalidInput.of("attachments", f"Attachments hold at most {MAX_ATTACHED_CHARS} characters together.")
        return Beside(
            quoted_context=self.quoted_context.strip(),
            attachments=tuple(Attachment(name=one.name, content=one.content) for one in self.attachments),
        )


@router.post("/knowledge-chat/{session_id}", summary="Ask a question", response_class=EventStream)
async def knowledge_chat(app: Opora, caller: Caller, session_id: Id, body: ChatBody) -> Response:
    """The first event is ``agent_query`` with the ids to come back by, the last one ``complete``.

    A reader that leaves does not stop the answer: `stop` does.
    """
    if body.images:
        raise InvalidInput.of("images", "images: this server does not take them with a question.")
    await app.sessions.get(await app.access.tenant(caller), session_id)
    names_session = not body.disable_title
    return await _asked(app, caller, session_id, body.query, body, body.beside(), names_session=names_session)


@router.post("/messages/{message_id}/regenerate", summary="Ask a question again", response_class=EventStream)
async def regenerate(app: Opora, caller: Caller, message_id: Id, body: Choice | None = None) -> Response:
    """The question of this answer (or this question) and all that followed it give way to a new round.

    What the body leaves out is chosen as it was before.
    """
    question = await app.branches.question_of(await app.access.tenant(caller), message_id)
    changed = body.model_dump(exclude_unset=True) if body else {}
    choice = Choice.model_validate({**question.request, **changed})
    return await _asked(
        app, caller, question.session_id, question.content, choice, question.beside, instead_of=question
    )


async def _asked(
    app: App,
    caller: Principal,
    session_id: str,
    query: str,
    choice: Choice,
    beside: Beside,
    *,
    instead_of: Message | None = None,
    names_session: bool = True,
) -> Response:
    scope = await app.access.bases(
        caller,
        given(choice.knowledge_base_ids),
        document_ids=given(choice.knowledge_ids),
        tag_ids=given(choice.tag_ids),
    )
    asked = await app.chat.ask(
        scope,
        session_id,
        query,
        overrides=choice.overrides(),
        explain=choice.explain,
        beside=beside,
        request=choice.kept(),
        instead_of=instead_of,
        names_session=names_session,
        model_id=choice.summary_model_id,
        understand_model_id=choice.query_understand_model_id,
    )
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
