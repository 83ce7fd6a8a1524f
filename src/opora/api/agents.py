"""Agents: bundles of settings that a question chooses by one id."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.responses import Response

from opora.api.envelope import Id, ok
from opora.api.fields import Ids
from opora.api.principal import Caller, Opora
from opora.chat.agents import MAX_DESCRIPTION_CHARS, MAX_NAME_CHARS
from opora.domain.agents import Agent

router = APIRouter(prefix="/agents", tags=["settings"])

AgentName = Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS)]
Description = Annotated[str, Field(max_length=MAX_DESCRIPTION_CHARS)]
Bases = Annotated[Ids | None, Field(description="Left out or null: all knowledge bases; an empty list: none.")]


class AgentBody(BaseModel):
    name: AgentName
    description: Description = ""
    settings: dict[str, Any] = Field(default_factory=dict, description="Retrieval settings by name.")
    prompts: dict[str, str] = Field(default_factory=dict, description="Texts by template id.")
    knowledge_base_ids: Bases = None
    summary_model_id: Id = ""
    query_understand_model_id: Id = ""
    vlm_model_id: Id = ""


class AgentChanges(BaseModel):
    name: AgentName | None = None
    description: Description | None = None
    settings: dict[str, Any] | None = None
    prompts: dict[str, str] | None = None
    knowledge_base_ids: Bases = None
    summary_model_id: Id | None = None
    query_understand_model_id: Id | None = None
    vlm_model_id: Id | None = None


class CopyBody(BaseModel):
    name: Annotated[AgentName | None, Field(description="Left out: that of the first with a number behind it.")] = None


@router.get("", summary="List agents")
async def browse(app: Opora, caller: Caller) -> Response:
    """The built-in one first."""
    return ok([agent_json(agent) for agent in await app.agents.all(await app.access.tenant(caller))])


@router.post("", status_code=201, summary="Make an agent")
async def create(app: Opora, caller: Caller, body: AgentBody) -> Response:
    """Its knowledge bases and models must be there."""
    values = _values(body.model_dump())
    if body.knowledge_base_ids:
        await app.access.bases(caller, body.knowledge_base_ids)
    return ok(agent_json(await app.agents.create(await app.access.tenant(caller), **values)), status=201)


@router.get("/{agent_id}", summary="See an agent")
async def get(app: Opora, caller: Caller, agent_id: Id) -> Response:
    return ok(agent_json(await app.agents.get(await app.access.tenant(caller), agent_id)))


@router.put("/{agent_id}", summary="Change an agent")
async def update(app: Opora, caller: Caller, agent_id: Id, body: AgentChanges) -> Response:
    """What is left out stays; ``knowledge_base_ids`` may be set to null for all of them."""
    given = body.model_dump(exclude_unset=True)
    values = _values({name: v for name, v in given.items() if v is not None or name == "knowledge_base_ids"})
    if body.knowledge_base_ids:
        await app.access.bases(caller, body.knowledge_base_ids)
    return ok(agent_json(await app.agents.update(await app.access.tenant(caller), agent_id, **values)))


@router.post("/{agent_id}/copy", status_code=201, summary="Make an agent that chooses the same")
async def copy(app: Opora, caller: Caller, agent_id: Id, body: CopyBody | None = None) -> Response:
    agent = await app.agents.copy(await app.access.tenant(caller), agent_id, name=(body and body.name) or "")
    return ok(agent_json(agent), status=201)


@router.delete("/{agent_id}", summary="Delete an agent")
async def delete(app: Opora, caller: Caller, agent_id: Id) -> Response:
    """What it answered stays."""
    await app.agents.delete(await app.access.tenant(caller), agent_id)
    return ok({"id": agent_id})


def agent_json(agent: Agent) -> dict[str, Any]:
    return {
        "id": agent.agent_id,
        "name": agent.name,
        "description": agent.description,
        "settings": dict(agent.settings),
        "prompts": dict(agent.prompts),
        "knowledge_base_ids": None if agent.base_ids is None else list(agent.base_ids),
        "summary_model_id": agent.summary_model_id,
        "query_understand_model_id": agent.query_understand_model_id,
        "vlm_model_id": agent.vlm_model_id,
        "is_builtin": agent.is_builtin,
        "created_at": agent.created_at.isoformat(),
        "updated_at": agent.updated_at.isoformat(),
    }


def _values(given: dict[str, Any]) -> dict[str, Any]:
    """The body's fields under the names of `Agent`."""
    if "knowledge_base_ids" in given:
        base_ids = given.pop("knowledge_base_ids")
        given["base_ids"] = None if base_ids is None else tuple(base_ids)
    return given
