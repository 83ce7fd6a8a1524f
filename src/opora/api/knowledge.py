"""Documents of a knowledge base: bring in a file or a text, list what is there."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Query, Request, UploadFile
from pydantic import BaseModel, Field
from starlette.responses import Response

from opora.api.envelope import Id, Paging, listed, ok
from opora.api.errors import opora_error_response
from opora.api.fields import MAX_NAME_CHARS, MAX_SOURCE_CHARS, Folder, Name
from opora.api.principal import App, Caller, Opora
from opora.api.shapes import document_json
from opora.domain.errors import Conflict, InvalidInput, TooLarge
from opora.domain.knowledge import ParseStatus
from opora.domain.scope import Scope
from opora.text.folders import MAX_FOLDER_CHARS

router = APIRouter(prefix="/knowledge-bases/{base_id}/knowledge", tags=["knowledge"])

_FORM_ESCAPES = (("%22", '"'), ("%0D", ""), ("%0A", " "))
"""What browsers write for quotes and line ends in the file name of a form; everything else is the name's own."""

Title = Annotated[str, Form(max_length=MAX_NAME_CHARS)]


class ManualBody(BaseModel):
    title: Name
    content: str
    source: Annotated[str, Field(max_length=MAX_SOURCE_CHARS)] = ""
    metadata: dict[str, Any] | None = None
    folder: Folder = ""


class AddressBody(BaseModel):
    url: Annotated[str, Field(min_length=1, max_length=MAX_SOURCE_CHARS)]
    title: Annotated[str, Field(max_length=MAX_NAME_CHARS)] = ""
    metadata: dict[str, Any] | None = None
    folder: Folder = ""


@router.post("/file", status_code=201, summary="Bring in a file")
async def add_file(
    request: Request,
    app: Opora,
    caller: Caller,
    base_id: Id,
    file: Annotated[UploadFile, File()],
    title: Title = "",
    source: Annotated[str, Form(max_length=MAX_SOURCE_CHARS)] = "",
    replace: Annotated[bool, Form()] = False,
    metadata: Annotated[str, Form(description="A JSON object.")] = "",
    folder: Annotated[str, Form(max_length=MAX_FOLDER_CHARS, description="Names joined by '/'.")] = "",
) -> Response:
    """The document is stored and read in the background; ask its progress.

    The same bytes again: 409 with the existing document. ``replace`` with the ``source`` of an existing document
    gives it the new content and keeps its id.
    """
    scope = await app.access.bases(caller, [base_id])
    data = await file_data(file, app.settings.upload_limit)
    try:
        document = await app.documents.add_file(
            scope,
            base_id,
            file_name=file_name(file.filename or ""),
            data=data,
            source=source,
            title=title,
            metadata=_metadata(metadata),
            folder=folder,
            replace=replace,
        )
    except Conflict as exc:
        return await existing(request, app, scope, exc)
    return ok(document_json(document), status=201)


@router.post("/manual", status_code=201, summary="Bring in a text")
async def add_text(request: Request, app: Opora, caller: Caller, base_id: Id, body: ManualBody) -> Response:
    scope = await app.access.bases(caller, [base_id])
    try:
        document = await app.documents.add_text(
            scope,
            base_id,
            title=body.title,
            content=body.content,
            source=body.source,
            metadata=body.metadata,
            folder=body.folder,
        )
    except Conflict as exc:
        return await existing(request, app, scope, exc)
    return ok(document_json(document), status=201)


@router.post("/url", status_code=201, summary="Bring in a page or file of the web")
async def add_address(request: Request, app: Opora, caller: Caller, base_id: Id, body: AddressBody) -> Response:
    """It is fetched before the answer: an address that gives no document is refused with the reason."""
    scope = await app.access.bases(caller, [base_id])
    try:
        document = await app.addresses.add(
            scope, base_id, body.url, title=body.title, metadata=body.metadata, folder=body.folder
        )
    except Conflict as exc:
        return await existing(request, app, scope, exc)
    return ok(document_json(document), status=201)


@router.get("", summary="List the documents of a knowledge base")
async def browse(
    app: Opora,
    caller: Caller,
    base_id: Id,
    page: Paging,
    status: Annotated[ParseStatus | None, Query(description="Only documents that stand so.")] = None,
    keyword: Annotated[str, Query(max_length=MAX_NAME_CHARS, description="Part of a name or title.")] = "",
    source: Annotated[str, Query(max_length=MAX_SOURCE_CHARS, description="What the source begins with.")] = "",
    folder: Annotated[str | None, Query(max_length=MAX_FOLDER_CHARS, description="And the folders inside it.")] = None,
) -> Response:
    scope = await app.access.bases(caller, [base_id], include_disabled=True)
    found = await app.documents.browse(scope, page, status=status, name=keyword, source_prefix=source, folder=folder)
    return listed(found, page, document_json)


@router.get("/folders", summary="The folders of a knowledge base")
async def folders(app: Opora, caller: Caller, base_id: Id) -> Response:
    """With how many documents lie in each itself; '' is the top."""
    scope = await app.access.bases(caller, [base_id], include_disabled=True)
    found = await app.documents.folders(scope)
    return ok([{"folder": folder, "knowledge_count": count} for folder, count in found.items()])


async def existing(request: Request, app: App, scope: Scope, conflict: Conflict) -> Response:
    """409 with the document that is there already, where the conflict names one."""
    document_id = conflict.details.get("document_id")
    if not document_id:
        raise conflict
    document = document_json(await app.documents.get(scope, document_id))
    return opora_error_response(request.headers.get("accept", ""), conflict, data=document)


async def file_data(file: UploadFile, limit: int) -> bytes:
    data = await file.read(limit + 1)
    if len(data) > limit:
        hint = "The limit is the setting OPORA_UPLOAD_LIMIT."
        raise TooLarge(f"The file is larger than {limit} bytes.", hint=hint, details={"field": "file"})
    return data


def file_name(name: str) -> str:
    for escaped, char in _FORM_ESCAPES:
        name = name.replace(escaped, char)
    return name


def _metadata(text: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise InvalidInput.of("metadata", "metadata: must be a JSON object.")
    return value
