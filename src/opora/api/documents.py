"""One document: what is known of it, how far it is, its text, its pages, its bytes; and its end."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field
from starlette.responses import Response

from opora.api.envelope import Id, ok
from opora.api.fields import Ids
from opora.api.principal import Caller, Opora
from opora.api.shapes import document_json, progress_json
from opora.knowledge.documents import MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS
from opora.text.names import content_disposition

router = APIRouter(prefix="/knowledge/{document_id}", tags=["knowledge"])

MAX_PAGE_NUMBER = 1_000_000


class DocumentChanges(BaseModel):
    title: Annotated[str, Field(max_length=MAX_TITLE_CHARS)] | None = None
    description: Annotated[str, Field(max_length=MAX_DESCRIPTION_CHARS)] | None = None
    metadata: dict[str, Any] | None = None
    tag_ids: Ids | None = None
    enable_status: Literal["enabled", "disabled"] | None = None


_ALONE = "sandbox; default-src 'none'"
"""A document's own bytes run nothing and load nothing, should a browser show them after all."""


@router.get("", summary="See a document")
async def get(app: Opora, caller: Caller, document_id: Id) -> Response:
    return ok(document_json(await app.documents.get(await app.access.document(caller, document_id), document_id)))


@router.put("", summary="Change what is said of a document")
async def update(app: Opora, caller: Caller, document_id: Id, body: DocumentChanges) -> Response:
    """Its title, description, metadata and tags, and whether search sees it. What is left out stays; ``metadata`` and
    ``tag_ids`` are given whole."""
    scope = await app.access.document(caller, document_id)
    changes = body.model_dump(exclude_none=True, exclude={"tag_ids", "enable_status"})
    if body.tag_ids is not None:
        await app.tags.put_on(scope, {document_id: body.tag_ids})
    enabled = None if body.enable_status is None else body.enable_status == "enabled"
    return ok(document_json(await app.documents.update(scope, document_id, **changes, enabled=enabled)))


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


@router.post("/reparse", summary="Read a document again")
async def reparse(app: Opora, caller: Caller, document_id: Id) -> Response:
    """From its stored bytes, also after a failure; what did not change is not embedded anew."""
    scope = await app.access.document(caller, document_id)
    return ok(document_json(await app.documents.retry(scope, document_id)))


@router.get("/text", summary="The text of a document")
async def text(app: Opora, caller: Caller, document_id: Id) -> Response:
    """The text that the places of chunks point into."""
    scope = await app.access.document(caller, document_id)
    return ok({"id": document_id, "text": await app.documents.text(scope, document_id)})


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
