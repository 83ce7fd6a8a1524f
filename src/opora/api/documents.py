"""One document: what is known of it, how far it is, its text, its pages, its bytes; and its end."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, File, Form, Path, Query, UploadFile
from pydantic import BaseModel, Field
from starlette.responses import Response

from opora.api.envelope import Id, ok
from opora.api.fields import Folder, Ids
from opora.api.knowledge import file_data, file_name
from opora.api.principal import Caller, Opora
from opora.api.shapes import document_json, progress_json, step_json
from opora.knowledge.documents import MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS
from opora.text.names import content_disposition

router = APIRouter(prefix="/knowledge/{document_id}", tags=["knowledge"])

MAX_PAGE_NUMBER = 1_000_000
PREVIEW_CHARS = 10_000
MAX_PREVIEW_CHARS = 200_000


class DocumentChanges(BaseModel):
    title: Annotated[str, Field(max_length=MAX_TITLE_CHARS)] | None = None
    description: Annotated[str, Field(max_length=MAX_DESCRIPTION_CHARS)] | None = None
    metadata: dict[str, Any] | None = None
    folder: Folder | None = None
    content: Annotated[str, Field(description="New Markdown of a text that was written here.")] | None = None
    version: (
        Annotated[
            int, Field(description="The version that ``content`` was made from: 409 where it is not the last one.")
        ]
        | None
    ) = None
    tag_ids: Ids | None = None
    enable_status: Literal["enabled", "disabled"] | None = None


_ALONE = "sandbox; default-src 'none'"
"""A document's own bytes run nothing and load nothing, should a browser show them after all."""


@router.get("", summary="See a document")
async def get(app: Opora, caller: Caller, document_id: Id) -> Response:
    return ok(document_json(await app.documents.get(await app.access.document(caller, document_id), document_id)))


@router.put("", summary="Change what is said of a document")
async def update(app: Opora, caller: Caller, document_id: Id, body: DocumentChanges) -> Response:
    """Its title, description, metadata, folder and tags, the words of a text that was written here, and whether
    search sees it. What is left out stays; ``metadata`` and ``tag_ids`` are given whole."""
    scope = await app.access.document(caller, document_id)
    changes = body.model_dump(exclude_none=True, exclude={"enable_status", "content", "version"})
    if body.content is not None:
        # New words are a step of their own: nothing else may refuse the change once they are written.
        await app.documents.check(scope, document_id, **changes)
        await app.documents.rewrite(scope, document_id, body.content, version=body.version)
    enabled = None if body.enable_status is None else body.enable_status == "enabled"
    return ok(document_json(await app.documents.update(scope, document_id, **changes, enabled=enabled)))


@router.put("/file", summary="Replace the file of a document")
async def replace_file(
    app: Opora,
    caller: Caller,
    document_id: Id,
    file: Annotated[UploadFile, File()],
    version: Annotated[int | None, Form(description="The version that is replaced: 409 where it is not.")] = None,
) -> Response:
    """By a newer version, under the same id; what did not change is not embedded anew."""
    scope = await app.access.document(caller, document_id)
    data = await file_data(file, app.settings.upload_limit)
    name = file_name(file.filename or "")
    return ok(
        document_json(await app.documents.replace_file(scope, document_id, file_name=name, data=data, version=version))
    )


@router.delete("", summary="Delete a document")
async def delete(app: Opora, caller: Caller, document_id: Id) -> Response:
    """It is hidden at once, and taken out of the index in the background."""
    await app.documents.delete(await app.access.document(caller, document_id), document_id)
    return ok({"id": document_id})


@router.get("/enrichment", summary="What a chat model added, and what it cost")
async def enrichment(app: Opora, caller: Caller, document_id: Id) -> Response:
    """``done`` are the steps that ended; ``reason`` says why the others will not."""
    state, is_queued = await app.documents.enrichment(await app.access.document(caller, document_id), document_id)
    return ok(
        {
            "version": state.version,
            "done": [step.value for step in state.done],
            "tokens": state.tokens,
            "reason": state.reason,
            "is_queued": is_queued,
        }
    )


@router.get("/progress", summary="How far a document is")
async def progress(app: Opora, caller: Caller, document_id: Id) -> Response:
    scope = await app.access.document(caller, document_id)
    return ok(progress_json(await app.documents.progress(scope, document_id)))


@router.get("/spans", summary="What processing did, and how long it took")
async def spans(app: Opora, caller: Caller, document_id: Id) -> Response:
    """Of the last five attempts; an attempt begins with reading."""
    steps = await app.documents.steps(await app.access.document(caller, document_id), document_id)
    return ok([step_json(step) for step in steps])


@router.post("/cancel-parse", summary="Stop reading a document")
async def cancel_parse(app: Opora, caller: Caller, document_id: Id) -> Response:
    """Or the making of its vectors. The version that was searched before stays in search."""
    scope = await app.access.document(caller, document_id)
    return ok(document_json(await app.documents.cancel(scope, document_id)))


@router.post("/reparse", summary="Read a document again")
async def reparse(app: Opora, caller: Caller, document_id: Id) -> Response:
    """From its stored bytes, or its address if it came from one, also after a failure; what did not change is not
    embedded anew."""
    scope = await app.access.document(caller, document_id)
    return ok(document_json(await app.addresses.read_again(scope, document_id)))


@router.get("/text", summary="The text of a document")
async def text(app: Opora, caller: Caller, document_id: Id) -> Response:
    """The text that the places of chunks point into."""
    scope = await app.access.document(caller, document_id)
    return ok({"id": document_id, "text": await app.documents.text(scope, document_id)})


@router.get("/preview", summary="The beginning of a document")
async def preview(
    app: Opora,
    caller: Caller,
    document_id: Id,
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=MAX_PREVIEW_CHARS)] = PREVIEW_CHARS,
) -> Response:
    """A part of its text, and how many pages there are to be seen as pictures."""
    scope = await app.access.document(caller, document_id)
    document = await app.documents.get(scope, document_id)
    text = await app.documents.text(scope, document_id)
    end = min(offset + limit, len(text))
    return ok(
        {
            "id": document_id,
            "file_type": document.file_type,
            "pages": document.metadata.get("pages", 0) if document.file_type == "pdf" else 0,
            "text": text[offset:end],
            "offset": offset,
            "total_chars": len(text),
            "next_offset": end if end < len(text) else None,
        }
    )


@router.get("/pages/{page}", summary="A page as a picture", response_class=Response)
async def page_image(
    app: Opora, caller: Caller, document_id: Id, page: Annotated[int, Path(ge=1, le=MAX_PAGE_NUMBER)]
) -> Response:
    scope = await app.access.document(caller, document_id)
    data = await app.documents.render_page(scope, document_id, page)
    return Response(data, media_type="image/png")


@router.get("/download", summary="The bytes of a document", response_class=Response)
async def download(app: Opora, caller: Caller, document_id: Id) -> Response:
    scope = await app.access.document(caller, document_id)
    document, data = await app.documents.data(scope, document_id)
    return Response(
        data,
        media_type="application/octet-stream",
        headers={
            "Content-Disposition": content_disposition(document.file_name or document.title),
            "Content-Security-Policy": _ALONE,
        },
    )
