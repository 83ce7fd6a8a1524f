"""Models: those of the settings and those of the tenant's registry, which are kept, changed, keyed and tried here."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.responses import Response

from opora.api.envelope import Id, ok
from opora.api.fields import MAX_NAME_CHARS, Name
from opora.api.principal import Caller, Opora
from opora.api.shapes import model_json
from opora.domain.models import ModelKind

router = APIRouter(prefix="/models", tags=["infrastructure"])

MAX_URL_CHARS = 2_048
MAX_KEY_CHARS = 4_096

Url = Annotated[str, Field(max_length=MAX_URL_CHARS)]


class ModelBody(BaseModel):
    type: ModelKind
    provider: Annotated[str, Field(max_length=MAX_NAME_CHARS)] = "openai"
    name: Annotated[str, Field(max_length=MAX_NAME_CHARS, description="What people call it; left out: as `model`.")] = (
        ""
    )
    model: Annotated[Name, Field(description="What the endpoint calls it.")]
    base_url: Url
    options: dict[str, Any] = Field(default_factory=dict)


class ModelChanges(BaseModel):
    provider: Annotated[str, Field(max_length=MAX_NAME_CHARS)] | None = None
    name: Name | None = None
    model: Name | None = None
    base_url: Url | None = None
    options: dict[str, Any] | None = None


class KeyBody(BaseModel):
    key: Annotated[str, Field(min_length=1, max_length=MAX_KEY_CHARS)]


@router.get("", summary="List models")
async def browse(app: Opora, caller: Caller) -> Response:
    """Those of the settings first; a chat model's ``id`` chooses it for a question."""
    entries = await app.registry.all(await app.access.tenant(caller))
    return ok([*app.models(), *(model_json(entry) for entry in entries)])


@router.post("", status_code=201, summary="Keep a model")
async def add(app: Opora, caller: Caller, body: ModelBody) -> Response:
    entry = await app.registry.add(
        await app.access.tenant(caller),
        kind=body.type,
        provider=body.provider,
        name=body.name,
        model=body.model,
        base_url=body.base_url,
        options=body.options,
    )
    return ok(model_json(entry), status=201)


@router.get("/types", summary="Kinds of models and their providers")
async def types(app: Opora, caller: Caller) -> Response:
    found = app.registry.types()
    return ok([{"type": kind, "providers": list(providers)} for kind, providers in found.items()])


@router.get("/{model_id}", summary="See a model of the registry")
async def get(app: Opora, caller: Caller, model_id: Id) -> Response:
    return ok(model_json(await app.registry.get(await app.access.tenant(caller), model_id)))


@router.put("/{model_id}", summary="Change a model")
async def update(app: Opora, caller: Caller, model_id: Id, body: ModelChanges) -> Response:
    """Another address loses the key: it was given for the old one."""
    scope = await app.access.tenant(caller)
    return ok(model_json(await app.registry.update(scope, model_id, body.model_dump(exclude_none=True))))


@router.delete("/{model_id}", summary="Remove a model with its key")
async def delete(app: Opora, caller: Caller, model_id: Id) -> Response:
    await app.registry.delete(await app.access.tenant(caller), model_id)
    return ok({"id": model_id})


@router.put("/{model_id}/key", summary="Give a model its key")
async def set_key(app: Opora, caller: Caller, model_id: Id, body: KeyBody) -> Response:
    """It is kept encrypted, and no call gives it back."""
    return ok(model_json(await app.registry.set_key(await app.access.tenant(caller), model_id, body.key)))


@router.delete("/{model_id}/key", summary="Take a model's key away")
async def delete_key(app: Opora, caller: Caller, model_id: Id) -> Response:
    return ok(model_json(await app.registry.set_key(await app.access.tenant(caller), model_id, "")))


@router.post("/{model_id}/test", summary="Try a model by a real call")
async def test(app: Opora, caller: Caller, model_id: Id) -> Response:
    """``ok`` says whether it works, ``detail`` what it answered or what went wrong."""
    tried = await app.registry.test(await app.access.tenant(caller), model_id)
    return ok({"ok": tried.ok, "ms": round(tried.milliseconds, 1), "detail": tried.detail, "hint": tried.hint})
