"""Chunks: those of a document, one by its id; correct, add, take out, switch, look back and go back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.responses import Response

from opora.api.envelope import Id, Paging, listed, ok
from opora.api.fields import Ids
from opora.api.principal import App, Caller, Opora
from opora.api.shapes import chunk_json, revision_json
from opora.domain.errors import InvalidInput
from opora.domain.knowledge import CHUNK_HARD_CAP
from opora.domain.scope import Scope
from opora.knowledge.chunk_edits import State

router = APIRouter(prefix="/chunks", tags=["chunks"])


Content = Annotated[str, Field(max_length=CHUNK_HARD_CAP, description="Its words; the heading over it stays.")]


class ChunkChanges(BaseModel):
    content: Content | None = None
    is_enabled: bool | None = None


class ChunkBody(BaseModel):
    content: Content
    after_chunk_id: Annotated[Id, Field(description="The chunk that it stands behind; left out: the last one.")] = ""


class RevertBody(BaseModel):
    revision: Annotated[int, Field(ge=0)]


class ChunkIds(BaseModel):
    ids: Annotated[Ids, Field(min_length=1)]


class ChunkSwitches(ChunkIds):
    is_enabled: bool


@router.get("/by-id/{chunk_id}", summary="See a chunk, also as it was")
async def get(app: Opora, caller: Caller, chunk_id: Id) -> Response:
    """The id of an earlier state gives that state, with ``is_current`` false and the present id beside it."""
    scope = await app.access.chunk(caller, chunk_id)
    states = await app.chunk_edits.revisions(scope, chunk_id)
    return ok(await _shown(app, scope, chunk_id, states))


@router.get("/{document_id}", summary="List the chunks of a document")
async def browse(app: Opora, caller: Caller, document_id: Id, page: Paging) -> Response:
    scope = await app.access.document(caller, document_id)
    return listed(await app.chunks.browse(scope, document_id, page), page, chunk_json)


@router.post("/{document_id}", status_code=201, summary="Add a chunk")
async def add(app: Opora, caller: Caller, document_id: Id, body: ChunkBody) -> Response:
    """It takes the heading of the chunk before it, and stays when the document is read anew."""
    scope = await app.access.document(caller, document_id)
    chunk = await app.chunk_edits.add(scope, document_id, body.content, after=body.after_chunk_id)
    return ok(chunk_json(chunk), status=201)


@router.put("/{document_id}/batch", summary="Switch chunks on or off")
async def switch(app: Opora, caller: Caller, document_id: Id, body: ChunkSwitches) -> Response:
    scope = await app.access.document(caller, document_id)
    ids = [await app.chunk_edits.current_id(scope, chunk_id) for chunk_id in body.ids]
    return ok([chunk_json(await app.chunks.set_enabled(scope, chunk_id, body.is_enabled)) for chunk_id in ids])


@router.post("/{document_id}/batch-delete", summary="Take chunks out")
async def delete_many(app: Opora, caller: Caller, document_id: Id, body: ChunkIds) -> Response:
    scope = await app.access.document(caller, document_id)
    return ok({"ids": await app.chunk_edits.delete(scope, document_id, body.ids)})


@router.put("/{document_id}/{chunk_id}", summary="Correct a chunk, switch it on or off")
async def update(app: Opora, caller: Caller, document_id: Id, chunk_id: Id, body: ChunkChanges) -> Response:
    """New ``content`` gives the chunk a new id; the old one leads to it. The id names the state that was edited:
    where somebody edited that first, the answer is 409 with both versions.

    The scope holds this one document, so a chunk of another one is not found.
    """
    scope = await app.access.document(caller, document_id)
    if body.content is None and body.is_enabled is None:
        raise InvalidInput.of("content", "Nothing is to be changed.", hint="Give content, is_enabled, or both.")
    if body.content is not None:
        chunk = await app.chunk_edits.edit(scope, chunk_id, body.content)
        chunk_id = chunk.chunk_id
    else:
        chunk_id = await app.chunk_edits.current_id(scope, chunk_id)
    if body.is_enabled is not None:
        chunk = await app.chunks.set_enabled(scope, chunk_id, body.is_enabled)
    return ok(chunk_json(chunk))


@router.delete("/{document_id}/{chunk_id}", summary="Take a chunk out")
async def delete(app: Opora, caller: Caller, document_id: Id, chunk_id: Id) -> Response:
    """It is gone from search at once, and stays away when the document is read anew."""
    scope = await app.access.document(caller, document_id)
    await app.chunk_edits.delete(scope, document_id, [await app.chunk_edits.current_id(scope, chunk_id)])
    return ok({"id": chunk_id})


@router.get("/{document_id}/{chunk_id}/revisions", summary="All states of a chunk")
async def revisions(app: Opora, caller: Caller, document_id: Id, chunk_id: Id) -> Response:
    """Oldest first, each with what changed against the one before."""
    states = await app.chunk_edits.revisions(await app.access.document(caller, document_id), chunk_id)
    before = ""
    shown = []
    for state in states:
        shown.append(revision_json(state, before))
        before = "" if state.revision.is_deleted else state.revision.content
    return ok(shown)


@router.post("/{document_id}/{chunk_id}/revert", summary="Go back to an earlier state")
async def revert(app: Opora, caller: Caller, document_id: Id, chunk_id: Id, body: RevertBody) -> Response:
    """Its words become a new state."""
    scope = await app.access.document(caller, document_id)
    return ok(chunk_json(await app.chunk_edits.revert(scope, chunk_id, body.revision)))


async def _shown(app: App, scope: Scope, chunk_id: str, states: Sequence[State]) -> dict[str, Any]:
    last = states[-1].revision
    current = {"revision": last.revision, "is_current": True, "current_chunk_id": last.chunk_id}
    if not last.is_deleted and last.chunk_id == chunk_id:
        return chunk_json(await app.chunks.get(scope, chunk_id)) | current
    state = next(one.revision for one in states if one.revision.chunk_id == chunk_id)
    return {
        "id": chunk_id,
        "knowledge_id": state.document_id,
        "knowledge_base_id": state.base_id,
        "content": state.content,
        "revision": state.revision,
        "is_current": False,
        "current_chunk_id": "" if last.is_deleted else last.chunk_id,
    }
