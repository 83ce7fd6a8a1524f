"""Tags of a knowledge base: keep them, and put them on documents."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.responses import Response

from opora.api.envelope import Id, ok
from opora.api.fields import Ids
from opora.api.principal import Caller, Opora
from opora.api.shapes import document_json
from opora.domain.tags import Tag, Tagged
from opora.knowledge.tags import MAX_COLOR_CHARS, MAX_NAME_CHARS

router = APIRouter(tags=["tags"])
BASE = "/knowledge-bases/{base_id}/tags"

TagName = Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS)]
Color = Annotated[str, Field(max_length=MAX_COLOR_CHARS)]
Position = Annotated[int, Field(ge=0, le=1_000_000, description="Its place in lists.")]


class TagBody(BaseModel):
    name: TagName
    color: Color = ""
    position: Position = 0


class TagChanges(BaseModel):
    name: TagName | None = None
    color: Color | None = None
    position: Position | None = None


class TagsOfDocuments(BaseModel):
    """Exactly these tags for each of the documents."""

    knowledge_ids: Annotated[Ids, Field(min_length=1)]
    tag_ids: Ids


@router.get(BASE, summary="List tags")
async def browse(app: Opora, caller: Caller, base_id: Id) -> Response:
    """With how many documents and FAQ entries have each."""
    found = await app.tags.browse(await app.access.bases(caller, [base_id]), base_id)
    return ok([tagged_json(one) for one in found])


@router.post(BASE, status_code=201, summary="Make a tag")
async def create(app: Opora, caller: Caller, base_id: Id, body: TagBody) -> Response:
    scope = await app.access.bases(caller, [base_id])
    return ok(tag_json(await app.tags.create(scope, base_id, **body.model_dump())), status=201)


@router.put(BASE + "/{tag_id}", summary="Rename a tag")
async def update(app: Opora, caller: Caller, base_id: Id, tag_id: Id, body: TagChanges) -> Response:
    scope = await app.access.bases(caller, [base_id])
    return ok(tag_json(await app.tags.update(scope, base_id, tag_id, **body.model_dump())))


@router.delete(BASE + "/{tag_id}", summary="Delete a tag")
async def delete(app: Opora, caller: Caller, base_id: Id, tag_id: Id) -> Response:
    """It is taken off everything that has it."""
    await app.tags.delete(await app.access.bases(caller, [base_id], include_disabled=True), base_id, tag_id)
    return ok({"id": tag_id})


@router.post("/knowledge/tags", summary="Tag documents")
async def put_on(app: Opora, caller: Caller, body: TagsOfDocuments) -> Response:
    """All of them, or none where a document or a tag is not there."""
    scope = await app.access.bases(caller, include_disabled=True)
    documents = await app.tags.put_on(scope, dict.fromkeys(body.knowledge_ids, body.tag_ids))
    return ok([document_json(document) for document in documents])


def tag_json(tag: Tag) -> dict[str, Any]:
    return {
        "id": tag.tag_id,
        "knowledge_base_id": tag.base_id,
        "name": tag.name,
        "color": tag.color,
        "position": tag.position,
        "created_at": tag.created_at.isoformat(),
        "updated_at": tag.updated_at.isoformat(),
    }


def tagged_json(one: Tagged) -> dict[str, Any]:
    return tag_json(one.tag) | {"knowledge_count": one.documents, "entry_count": one.entries}
