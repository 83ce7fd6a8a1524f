"""Long-term memory: the switch, and what is remembered."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.responses import Response

from opora.api.envelope import Id, Paging, listed, ok
from opora.api.principal import Caller, Opora
from opora.api.shapes import memory_json
from opora.domain.memory import MAX_MEMORY_CHARS

router = APIRouter(prefix="/memory", tags=["memory"])

Content = Annotated[str, Field(max_length=MAX_MEMORY_CHARS)]


class MemorySettings(BaseModel):
    enabled: bool


class MemoryBody(BaseModel):
    content: Content
    always: Annotated[bool, Field(description="Recall it for every question.")] = False


class MemoryChanges(BaseModel):
    content: Content | None = None
    always: bool | None = None


@router.get("/settings", summary="Is memory used?")
async def settings(app: Opora, caller: Caller) -> Response:
    return ok({"enabled": await app.memory.enabled(await app.access.tenant(caller))})


@router.put("/settings", summary="Switch memory on or off")
async def switch(app: Opora, caller: Caller, body: MemorySettings) -> Response:
    """Switched off, nothing is recalled; what is remembered stays."""
    await app.memory.enable(await app.access.tenant(caller), body.enabled)
    return ok({"enabled": body.enabled})


@router.get("/items", summary="List what is remembered")
async def browse(app: Opora, caller: Caller, page: Paging) -> Response:
    return listed(await app.memory.browse(await app.access.tenant(caller), page), page, memory_json)


@router.post("/items", status_code=201, summary="Remember something")
async def add(app: Opora, caller: Caller, body: MemoryBody) -> Response:
    item = await app.memory.add(await app.access.tenant(caller), body.content, always=body.always)
    return ok(memory_json(item), status=201)


@router.delete("/items", summary="Forget everything")
async def clear(app: Opora, caller: Caller) -> Response:
    return ok({"deleted": await app.memory.clear(await app.access.tenant(caller))})


@router.put("/items/{item_id}", summary="Change what is remembered")
async def update(app: Opora, caller: Caller, item_id: Id, body: MemoryChanges) -> Response:
    scope = await app.access.tenant(caller)
    return ok(memory_json(await app.memory.update(scope, item_id, content=body.content, always=body.always)))


@router.delete("/items/{item_id}", summary="Forget something")
async def delete(app: Opora, caller: Caller, item_id: Id) -> Response:
    await app.memory.delete(await app.access.tenant(caller), item_id)
    return ok({"id": item_id})
