"""Settings of a tenant: its numbers of retrieval, and its own texts in the place of built-in prompts."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.responses import Response

from opora.api.envelope import Id, ok
from opora.api.fields import Ids, QueryText, given
from opora.api.principal import App, Caller, Opora
from opora.chat.layers import proposed
from opora.domain.agents import TenantSettings
from opora.domain.errors import NotFound
from opora.domain.scope import Principal, Scope
from opora.domain.search import SearchRequest
from opora.domain.trace import Stage
from opora.prompt.overrides import MAX_CHARS, REQUIRED, Entry, checked_text, entries, entry, preview

router = APIRouter(prefix="/tenants/{tenant_id}", tags=["settings"])

PREVIEWED = 10
"""Results that a preview compares."""


class RetrievalChanges(BaseModel):
    """Retrieval settings by name; null takes the tenant's own value away."""

    settings: dict[str, Any]


class RetrievalPreview(RetrievalChanges):
    query: QueryText
    knowledge_base_ids: Ids | None = None


class TemplateText(BaseModel):
    text: Annotated[str, Field(max_length=MAX_CHARS)]


class TemplateTrial(TemplateText):
    values: dict[str, str] = Field(default_factory=dict)


@router.get("/retrieval-config", summary="Numbers of retrieval in force")
async def retrieval(app: Opora, caller: Caller, tenant_id: Id) -> Response:
    """Each with who set it."""
    scope = await _own(app, caller, tenant_id)
    return ok(_retrieval_json(app, await app.layers.tenant(scope)))


@router.put("/retrieval-config", summary="Change numbers of retrieval")
async def set_retrieval(app: Opora, caller: Caller, tenant_id: Id, body: RetrievalChanges) -> Response:
    """What is left out stays. They apply to every question and search of the tenant that says nothing else."""
    scope = await _own(app, caller, tenant_id)
    return ok(_retrieval_json(app, await app.layers.set_retrieval(scope, body.settings)))


@router.post("/retrieval-config/preview", summary="What changed numbers would find")
async def preview_retrieval(app: Opora, caller: Caller, tenant_id: Id, body: RetrievalPreview) -> Response:
    """One search with the numbers in force and one with those proposed, side by side; nothing is kept."""
    own = await _own(app, caller, tenant_id)
    scope = await app.access.bases(caller, given(body.knowledge_base_ids))
    tenant = await app.layers.tenant(own)
    request = SearchRequest(query=body.query, match_count=PREVIEWED)
    now = await app.search.search(scope, request, settings=app.effective(tenant.retrieval))
    then = await app.search.search(scope, request, settings=app.effective(proposed(tenant.retrieval, body.settings)))
    return ok({"now": _ranked(now), "proposed": _ranked(then), "changes": _changes(now, then)})


@router.get("/prompt-templates", summary="List prompt templates")
async def templates(app: Opora, caller: Caller, tenant_id: Id) -> Response:
    tenant = await app.layers.tenant(await _own(app, caller, tenant_id))
    return ok([_template_json(one, tenant) for one in entries()])


@router.get("/prompt-templates/{template_id}", summary="See a prompt template")
async def template(app: Opora, caller: Caller, tenant_id: Id, template_id: Id) -> Response:
    tenant = await app.layers.tenant(await _own(app, caller, tenant_id))
    return ok(_template_json(entry(template_id), tenant))


@router.put("/prompt-templates/{template_id}", summary="Write a template yourself")
async def set_template(app: Opora, caller: Caller, tenant_id: Id, template_id: Id, body: TemplateText) -> Response:
    """One text for every language. Placeholders in braces are filled; those that must be there are checked."""
    scope = await _own(app, caller, tenant_id)
    return ok(_template_json(entry(template_id), await app.layers.set_prompt(scope, template_id, body.text)))


@router.delete("/prompt-templates/{template_id}", summary="Go back to the built-in text")
async def reset_template(app: Opora, caller: Caller, tenant_id: Id, template_id: Id) -> Response:
    scope = await _own(app, caller, tenant_id)
    return ok(_template_json(entry(template_id), await app.layers.set_prompt(scope, template_id, None)))


@router.post("/prompt-templates/{template_id}/preview", summary="See a text filled")
async def preview_template(app: Opora, caller: Caller, tenant_id: Id, template_id: Id, body: TemplateTrial) -> Response:
    """With samples, or with ``values`` in their place; nothing is kept."""
    await _own(app, caller, tenant_id)
    return ok({"text": preview(checked_text(template_id, body.text), body.values)})


async def _own(app: App, caller: Principal, tenant_id: str) -> Scope:
    """Another tenant's settings look like none."""
    if tenant_id != caller.tenant_id:
        raise NotFound("There is no such tenant.", details={"tenant_id": tenant_id})
    return await app.access.tenant(caller)


def _retrieval_json(app: App, tenant: TenantSettings) -> dict[str, Any]:
    settings = app.effective(tenant.retrieval)
    return {
        "settings": {
            name: {"value": value, "origin": settings.origin(name).value}
            for name, value in asdict(settings.values).items()
        },
        "own": dict(tenant.retrieval),
    }


def _template_json(one: Entry, tenant: TenantSettings) -> dict[str, Any]:
    return {
        "id": one.template.template_id,
        "group": one.group,
        "texts": dict(one.template.texts),
        "own_text": tenant.prompts.get(one.template.template_id, ""),
        "required_placeholders": sorted(REQUIRED.get(one.template.template_id, ())),
        "can_change": one.can_change,
    }


def _ranked(stage: Stage) -> list[dict[str, Any]]:
    return [
        {"rank": rank, "chunk_id": one.chunk_id, "knowledge_title": one.title, "score": one.score}
        for rank, one in enumerate(stage.results, start=1)
    ]


def _changes(now: Stage, then: Stage) -> list[dict[str, Any]]:
    """Where each result moved; a rank of null is 'not among them'."""
    before = {one.chunk_id: rank for rank, one in enumerate(now.results, start=1)}
    after = {one.chunk_id: rank for rank, one in enumerate(then.results, start=1)}
    moved = [chunk_id for chunk_id in {**before, **after} if before.get(chunk_id) != after.get(chunk_id)]
    return [{"chunk_id": one, "before": before.get(one), "after": after.get(one)} for one in moved]
