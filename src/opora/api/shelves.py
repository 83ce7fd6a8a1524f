"""Several documents at once: see, find by name, delete, read anew, move, copy."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field, model_validator
from starlette.responses import Response

from opora.api.envelope import Id, Paging, listed, ok
from opora.api.fields import MAX_IDS, MAX_NAME_CHARS, Folder, Ids, given
from opora.api.principal import Caller, Opora
from opora.api.shapes import document_json
from opora.domain.errors import OporaError

router = APIRouter(prefix="/knowledge", tags=["knowledge"])

SomeIds = Annotated[Ids, Field(min_length=1)]


class IdsBody(BaseModel):
    ids: SomeIds


class MoveBody(BaseModel):
    knowledge_ids: SomeIds
    knowledge_base_id: Annotated[Id, Field(description="Where they go; left out: they stay in their base.")] = ""
    folder: Annotated[Folder | None, Field(description="The folder that they lie in then.")] = None

    @model_validator(mode="after")
    def _goes_somewhere(self) -> MoveBody:
        if not self.knowledge_base_id and self.folder is None:
            raise ValueError("a knowledge_base_id or a folder says where the documents go")
        return self


class CopyBody(BaseModel):
    knowledge_ids: SomeIds
    knowledge_base_id: Annotated[Id, Field(min_length=1)]


@router.get("/batch", summary="See several documents")
async def see(
    app: Opora, caller: Caller, ids: Annotated[list[Id], Query(min_length=1, max_length=MAX_IDS)]
) -> Response:
    scope = await app.access.documents(caller, ids)
    return ok([document_json(document) for document in await app.documents.get_many(scope, ids)])


@router.get("/search", summary="Find documents by name")
async def search(
    app: Opora,
    caller: Caller,
    page: Paging,
    keyword: Annotated[str, Query(min_length=1, max_length=MAX_NAME_CHARS, description="Part of a name or title.")],
    knowledge_base_ids: Annotated[list[Id] | None, Query(max_length=MAX_IDS)] = None,
) -> Response:
    """Over the given bases or all of them, newest first."""
    scope = await app.access.bases(caller, given(knowledge_base_ids), include_disabled=True)
    return listed(await app.documents.browse(scope, page, name=keyword), page, document_json)


@router.post("/batch-delete", summary="Delete several documents")
async def delete(app: Opora, caller: Caller, body: IdsBody) -> Response:
    """All of them, or none where one is not there."""
    scope = await app.access.documents(caller, body.ids)
    await app.documents.delete_many(scope, body.ids)
    return ok({"ids": list(dict.fromkeys(body.ids))})


@router.post("/batch-reparse", status_code=202, summary="Read several documents again")
async def reparse(app: Opora, caller: Caller, body: IdsBody) -> Response:
    """What became of each: a page of the web that can't be fetched now does not keep the others back."""
    scope = await app.access.documents(caller, body.ids)
    rows: list[dict[str, Any]] = []
    for document_id in dict.fromkeys(body.ids):
        try:
            document = await app.addresses.read_again(scope, document_id)
            rows.append({"id": document_id, "parse_status": document.parse_status.value, "error": ""})
        except OporaError as error:
            rows.append({"id": document_id, "parse_status": "", "error": error.message})
    return ok(rows, status=202)


@router.post("/move", status_code=202, summary="Move documents to another base or folder")
async def move(app: Opora, caller: Caller, body: MoveBody) -> Response:
    """All of them, or none. A document is found where it was until, in one step, it is found where it goes."""
    scope = await app.access.documents(caller, body.knowledge_ids)
    if body.knowledge_base_id:
        target = await app.access.bases(caller, [body.knowledge_base_id], include_disabled=True)
        await app.transfers.move(scope, target, body.knowledge_base_id, body.knowledge_ids)
    if body.folder is not None:
        await app.documents.put_in_folder(scope, body.knowledge_ids, body.folder)
    found = await app.documents.get_many(scope, body.knowledge_ids)
    return ok([document_json(document) for document in found], status=202)


@router.post("/copy", status_code=202, summary="Copy documents to another base")
async def copy(app: Opora, caller: Caller, body: CopyBody) -> Response:
    """New documents of the same content, edits and tags; vectors are taken along where the model is the same."""
    scope = await app.access.documents(caller, body.knowledge_ids)
    target = await app.access.bases(caller, [body.knowledge_base_id], include_disabled=True)
    copies = await app.transfers.copy(scope, target, body.knowledge_base_id, body.knowledge_ids)
    return ok([document_json(document) for document in copies], status=202)
