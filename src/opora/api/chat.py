"""Ask a question, or ask it again; the answer comes as server-sent events and goes on without its reader."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field, ValidationInfo, field_validator, model_validator
from starlette.responses import Response

from opora.api.envelope import Id
from opora.api.eventstream import EventStream, frames_of
from opora.api.fields import MAX_NAME_CHARS, Cosine, Folder, Ids, MetadataFilter, Share, filter_of, given, question_text
from opora.api.principal import App, Caller, Opora
from opora.chat.agents import AgentBases
from opora.chat.pictures import MAX_PICTURES, read_pictures
from opora.chat.settings import checked
from opora.domain.agents import QUICK_ANSWER
from opora.domain.conversation import Attachment, Beside, Message
from opora.domain.errors import InvalidInput
from opora.domain.pictures import Picture
from opora.domain.scope import Principal
from opora.domain.search import MAX_QUERY_CHARS

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
    folder: Folder = ""
    metadata_filter: MetadataFilter | None = None
    web_search_enabled: bool | None = None
    summary_model_id: Annotated[Id, Field(description="The chat model of this question, by its id.")] = ""
    query_understand_model_id: Annotated[Id, Field(description="A smaller one that rewrites the question.")] = ""
    vlm_model_id: Annotated[Id, Field(description="One that looks at pictures where the chat model can't.")] = ""
    rerank_model_id: Annotated[Id, Field(description="The reranking model of this question.")] = ""
    agent_id: Annotated[Id, Field(description="The agent that chooses what is left open here.")] = ""
    explain: Annotated[bool, Field(description="Keep what became of every candidate in the message's trace.")] = False
    settings: Overrides = Field(default_factory=Overrides)

    def overrides(self) -> dict[str, Any]:
        chosen = self.settings.model_dump(exclude_none=True)
        if self.web_search_enabled is not None:
            chosen.setdefault("web_search_enabled", self.web_search_enabled)
        if self.rerank_model_id:
            chosen.setdefault("rerank_model_id", self.rerank_model_id)
        return chosen

    def kept(self) -> dict[str, Any]:
        return self.model_dump(mode="json", include=set(Choice.model_fields), exclude_defaults=True)


class AttachmentBody(BaseModel):
    name: Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS)]
    content: Annotated[str, Field(max_length=MAX_ATTACHED_CHARS)]


class ImageBody(BaseModel):
    """A picture as a ``data:`` address, under either name."""

    url: str = ""
    data: str = ""


class ChatBody(Choice):
    images: Annotated[list[ImageBody | str], Field(max_length=MAX_PICTURES)] = Field(default_factory=list)
    query: Annotated[
        str,
        Field(max_length=MAX_QUERY_CHARS, validate_default=True, description="May be left out where there are images."),
    ] = ""
    quoted_context: Annotated[str, Field(max_length=MAX_QUOTED_CHARS)] = ""
    attachments: Annotated[list[AttachmentBody], Field(max_length=MAX_ATTACHMENTS)] = Field(default_factory=list)
    disable_title: Annotated[bool, Field(description="Leave a session without a title as it is.")] = False

    @field_validator("query")
    @classmethod
    def _something_is_asked(cls, query: str, info: ValidationInfo) -> str:
        return query if not query.strip() and info.data.get("images") else question_text(query)

    def image_urls(self) -> list[str]:
        return [one if isinstance(one, str) else one.url or one.data for one in self.images]

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
    pictures = await asyncio.to_thread(read_pictures, body.image_urls())
    await app.sessions.get(await app.access.tenant(caller), session_id)
    names_session = not body.disable_title
    return await _asked(
        app, caller, session_id, body.query, body, body.beside(), pictures=pictures, names_session=names_session
    )


@router.post("/agent-chat/{session_id}", summary="Ask an agent", response_class=EventStream)
async def agent_chat(app: Opora, caller: Caller, session_id: Id, body: ChatBody) -> Response:
    """As `knowledge-chat`; without ``agent_id`` it is the built-in agent that is asked."""
    agent_id = body.agent_id or QUICK_ANSWER
    return await knowledge_chat(app, caller, session_id, body.model_copy(update={"agent_id": agent_id}))


@router.post("/messages/{message_id}/regenerate", summary="Ask a question again", response_class=EventStream)
async def regenerate(app: Opora, caller: Caller, message_id: Id, body: Choice | None = None) -> Response:
    """The question of this answer (or this question) and all that followed it give way to a new round.

    What the body leaves out is chosen as it was before.
    """
    scope = await app.access.tenant(caller)
    question = await app.branches.question_of(scope, message_id)
    pictures = await app.branches.pictures_of(scope, question)
    changed = body.model_dump(exclude_unset=True) if body else {}
    choice = Choice.model_validate({**question.request, **changed})
    return await _asked(
        app,
        caller,
        question.session_id,
        question.content,
        choice,
        question.beside,
        pictures=pictures,
        instead_of=question,
    )


async def _asked(
    app: App,
    caller: Principal,
    session_id: str,
    query: str,
    choice: Choice,
    beside: Beside,
    *,
    pictures: Sequence[Picture] = (),
    instead_of: Message | None = None,
    names_session: bool = True,
) -> Response:
    asks = await _bases(app, caller, choice)
    scope = await app.access.bases(
        caller,
        asks.base_ids,
        document_ids=given(choice.knowledge_ids),
        tag_ids=given(choice.tag_ids),
        folder=choice.folder,
        fits=filter_of(choice.metadata_filter),
    )
    asked = await app.chat.ask(
        scope,
        session_id,
        query,
        overrides=choice.overrides(),
        explain=choice.explain,
        beside=beside,
        pictures=pictures,
        request=choice.kept(),
        instead_of=instead_of,
        names_session=names_session,
        model_id=choice.summary_model_id,
        understand_model_id=choice.query_understand_model_id,
        vision_model_id=choice.vlm_model_id,
        agent_id=choice.agent_id,
        warnings=asks.warnings,
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


async def _bases(app: App, caller: Principal, choice: Choice) -> AgentBases:
    """Those that the request names, else those of its agent."""
    named = given(choice.knowledge_base_ids)
    if named or not choice.agent_id:
        return AgentBases(base_ids=None if named is None else tuple(named))
    there = (await app.access.bases(caller)).base_ids
    return await app.agents.bases(await app.access.tenant(caller), choice.agent_id, there)
