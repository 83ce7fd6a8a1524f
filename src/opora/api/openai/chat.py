"""``/v1/chat/completions`` and ``/v1/models``: questions to knowledge bases, asked as one would ask a model."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Header
from starlette.responses import Response

from opora.api.eventstream import EventStream
from opora.api.openai.completion import Completion, frames, ready, whole
from opora.api.openai.conversation import ChatBody, read
from opora.api.openai.names import HEADER, asked, entries_of, models_of
from opora.api.openai.route import OpenAiRoute, respond
from opora.api.principal import Caller, Opora
from opora.chat.pictures import read_pictures

router = APIRouter(tags=["openai"], route_class=OpenAiRoute)

Bases = Annotated[str, Header(alias=HEADER, description="Ids of knowledge bases, comma-separated.")]


@router.post("/chat/completions", summary="Ask knowledge bases as a chat model")
async def chat_completions(app: Opora, caller: Caller, body: ChatBody, x_knowledge_base_ids: Bases = "") -> Response:
    """Nothing is stored: the conversation is what the client sends. The answer ends when its reader leaves."""
    scope, model_id = await asked(app, caller, body.model, x_knowledge_base_ids)
    said = read(body.messages)
    question, models = await app.direct.question(
        scope,
        said.query,
        history=said.history,
        instructions=said.instructions,
        overrides=body.overrides(),
        layers=await app.layers.of(scope),
        pictures=await asyncio.to_thread(read_pictures, said.image_urls),
        model_id=model_id,
    )
    completion = Completion(question, body.model)
    events = app.direct.answer(question, models)
    if not body.stream:
        return respond(await whole(completion, events))
    with_usage = body.stream_options is not None and body.stream_options.include_usage
    first, events = await ready(events)
    return EventStream(frames(completion, first, events, with_usage=with_usage), retry=None)


@router.get("/models", summary="Models by the names of OpenAI's clients")
async def list_models(app: Opora, caller: Caller) -> Response:
    """One over all knowledge bases, one over each, one by each chat model of the registry, and the models for vectors
    and reranking."""
    return respond({"object": "list", "data": await _models(app, caller)})


@router.get("/models/{model:path}", summary="One model")
async def see_model(app: Opora, caller: Caller, model: str) -> Response:
    for one in await _models(app, caller):
        if one["id"] == model:
            return respond(one)
    await asked(app, caller, model, "")
    return respond(_model(model, 0))


async def _models(app: Opora, caller: Caller) -> list[dict[str, Any]]:
    named = await models_of(app, caller)
    for model in (app.embedder, app.reranker):
        if model is not None:
            named.append((model.card.identity, 0))
    named += await entries_of(app, caller)
    return [_model(name, created) for name, created in named]


def _model(name: str, created: int) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": created, "owned_by": "opora"}
