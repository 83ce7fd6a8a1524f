"""Chunks: those of a document, one by its id, and switching one on or off."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response

from opora.api.envelope import Id, Paging, listed, ok
from opora.api.principal import Caller, Opora
from opora.api.shapes import chunk_json

router = APIRouter(prefix="/chunks", tags=["chunks"])


class ChunkChanges(BaseModel):
    is_enabled: bool


@router.get("/by-id/{chunk_id}", summary="See a chunk")
async def get(app: Opora, caller: Caller, chunk_id: Id) -> Response:
    return ok(chunk_json(await app.chunks.get(await app.access.chunk(caller, chunk_id), chunk_id)))


@router.get("/{document_id}", summary="List the chunks of a document")
async def browse(app: Opora, caller: Caller, document_id: Id, page: Paging) -> Response:
    scope = await app.access.document(caller, document_id)
    return listed(await app.chunks.browse(scope, document_id, page), page, chunk_json)


@router.put("/{document_id}/{chunk_id}", summary="Switch a chunk on or off")
async def update(app: Opora, caller: Caller, document_id: Id, chunk_id: Id, body: ChunkChanges) -> Response:
    """The scope holds this one document, so a chunk of another one is not found."""
    scope = await app.access.document(caller, document_id)
    return ok(chunk_json(await app.chunks.set_enabled(scope, chunk_id, body.is_enabled)))
