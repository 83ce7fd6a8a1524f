"""Copies of whole knowledge bases: begin one, see how far it is."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from opora.api.bases import existing
from opora.api.envelope import Id, ok
from opora.api.fields import Name
from opora.api.principal import Caller, Opora
from opora.api.shapes import copy_json
from opora.domain.errors import Conflict

router = APIRouter(prefix="/knowledge-bases/copy", tags=["knowledge bases"])


class CopyBody(BaseModel):
    source_id: Id
    name: Annotated[Name | None, Field(description="Left out: that of the source with a number behind it.")] = None


@router.post("", status_code=202, summary="Copy a knowledge base with all it holds")
async def start(request: Request, app: Opora, caller: Caller, body: CopyBody) -> Response:
    """The copy is in no list and no search until it is complete. Nothing is embedded anew."""
    scope = await app.access.bases(caller, [body.source_id], include_disabled=True)
    try:
        task = await app.copies.start(scope, body.source_id, name=body.name)
    except Conflict as conflict:
        return await existing(request, app, caller, conflict)
    return ok(copy_json(task), status=202)


@router.get("/progress/{copy_id}", summary="How far a copy is")
async def progress(app: Opora, caller: Caller, copy_id: Id) -> Response:
    return ok(copy_json(await app.copies.get(await app.access.tenant(caller), copy_id)))
