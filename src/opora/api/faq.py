"""Entries of a FAQ base: keep, find, switch, search, import and export them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from enum import StrEnum
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field, ValidationError
from starlette.datastructures import UploadFile
from starlette.responses import Response

from opora.api.envelope import Id, Paging, listed, ok
from opora.api.errors import opora_error_response
from opora.api.fields import MAX_IDS, MAX_NAME_CHARS, Cosine, Ids, QueryText, given
from opora.api.principal import App, Caller, Opora
from opora.domain.errors import Conflict, InvalidInput, TooLarge
from opora.domain.faq import STRATEGY_ALL, FaqEntry
from opora.domain.faq_entry import FaqDraft, FaqRecord, metadata_of
from opora.domain.faq_import import FaqImport, ImportMode
from opora.domain.scope import Scope
from opora.domain.search import DOOR_MATCH_COUNT, SearchMode, SearchRequest
from opora.ingest.faq_file import export_csv, export_json, listed_rows
from opora.knowledge.faq import Changed
from opora.ports import Numbered, Page

router = APIRouter(tags=["faq"])
BASE = "/knowledge-bases/{base_id}/faq"
MAX_MATCH_COUNT = 200
EXPORT_ROWS = 1_000_000

Texts = list[str]
Number = Annotated[int, Field(strict=True, ge=1, le=10**17)]
Ref = Id | Number


class EntryBody(BaseModel):
    standard_question: str
    similar_questions: Texts = Field(default_factory=list)
    negative_questions: Texts = Field(default_factory=list)
    answers: Texts
    answer_strategy: str = STRATEGY_ALL
    is_enabled: bool = True
    is_recommended: bool = False
    tag_ids: Ids = Field(default_factory=list)

    def draft(self) -> FaqDraft:
        values = self.model_dump()
        return _changed(FaqDraft(entry=FaqEntry()), values)


class EntryChanges(BaseModel):
    """What is left out stays."""

    standard_question: str | None = None
    similar_questions: Texts | None = None
    negative_questions: Texts | None = None
    answers: Texts | None = None
    answer_strategy: str | None = None
    is_enabled: bool | None = None
    is_recommended: bool | None = None
    tag_ids: Ids | None = None
    state: Annotated[str, Field(max_length=MAX_NAME_CHARS)] = ""
    """That of the entry as it was read: a change made meanwhile is not written over."""


class EntriesBody(BaseModel):
    ids: Annotated[list[Ref], Field(min_length=1, max_length=MAX_IDS)]


class FieldsBody(EntriesBody):
    is_enabled: bool | None = None
    is_recommended: bool | None = None
    tag_ids: Ids | None = None


class TagsBody(EntriesBody):
    tag_ids: Ids


class FaqSearchBody(BaseModel):
    query_text: QueryText
    match_count: Annotated[int, Field(strict=True, ge=1, le=MAX_MATCH_COUNT)] = DOOR_MATCH_COUNT
    vector_threshold: Cosine | None = None
    tag_ids: Ids | None = None


class ImportBody(BaseModel):
    entries: list[Any]
    mode: ImportMode = ImportMode.APPEND
    dry_run: bool = False


class ExportFormat(StrEnum):
    CSV = "csv"
    JSON = "json"


@router.get(f"{BASE}/entries", summary="List the entries of a FAQ base")
async def browse(
    app: Opora,
    caller: Caller,
    base_id: Id,
    page: Paging,
    tag_id: Annotated[Id, Query(description="Only entries with this tag.")] = "",
    is_enabled: bool | None = None,
    is_recommended: bool | None = None,
    keyword: Annotated[str, Query(max_length=MAX_NAME_CHARS, description="Part of a question or answer.")] = "",
) -> Response:
    scope = await _scope(app, caller, base_id)
    found = await app.faq.browse(
        scope, base_id, page, tag_id=tag_id, is_enabled=is_enabled, is_recommended=is_recommended, keyword=keyword
    )
    return listed(found, page, entry_json)


@router.post(f"{BASE}/entry", status_code=201, summary="Add an entry")
async def create(request: Request, app: Opora, caller: Caller, base_id: Id, body: EntryBody) -> Response:
    """409 with the existing entry when the base has one of the questions already."""
    scope = await _scope(app, caller, base_id)
    try:
        return ok(entry_json(await app.faq.create(scope, base_id, body.draft())), status=201)
    except Conflict as conflict:
        return await _existing(request, app, scope, base_id, conflict)


@router.get(f"{BASE}/entry/{{entry_id}}", summary="See an entry")
async def get(app: Opora, caller: Caller, base_id: Id, entry_id: Id) -> Response:
    return ok(entry_json(await app.faq.get(await _scope(app, caller, base_id), base_id, entry_id)))


@router.put(f"{BASE}/entry/{{entry_id}}", summary="Change an entry")
async def update(
    request: Request, app: Opora, caller: Caller, base_id: Id, entry_id: Id, body: EntryChanges
) -> Response:
    """By id or number. Only questions that are new to the entry are embedded.

    With the ``state`` of the entry that was edited, the answer is 409 with both versions where it was changed first."""
    scope = await _scope(app, caller, base_id)
    try:
        return ok(entry_json(await app.faq.update(scope, base_id, entry_id, _change(body), state=body.state)))
    except Changed as changed:
        both = {"current": entry_json(changed.current), "yours": _edit_json(changed.yours)}
        return opora_error_response(request.headers.get("accept", ""), changed, data=both)
    except Conflict as conflict:
        return await _existing(request, app, scope, base_id, conflict)


@router.delete(f"{BASE}/entry/{{entry_id}}", summary="Delete an entry")
async def delete(app: Opora, caller: Caller, base_id: Id, entry_id: Id) -> Response:
    (gone,) = await app.faq.delete(await _scope(app, caller, base_id), base_id, [entry_id])
    return ok({"id": gone})


@router.delete(f"{BASE}/entries", summary="Delete several entries")
async def delete_many(app: Opora, caller: Caller, base_id: Id, body: EntriesBody) -> Response:
    scope = await _scope(app, caller, base_id)
    return ok({"ids": await app.faq.delete(scope, base_id, [str(ref) for ref in body.ids])})


@router.put(f"{BASE}/entries/fields", summary="Switch several entries")
async def update_fields(app: Opora, caller: Caller, base_id: Id, body: FieldsBody) -> Response:
    return await _update_many(app, await _scope(app, caller, base_id), base_id, body)


@router.put(f"{BASE}/entries/tags", summary="Tag several entries")
async def update_tags(app: Opora, caller: Caller, base_id: Id, body: TagsBody) -> Response:
    return await _update_many(app, await _scope(app, caller, base_id), base_id, body)


@router.post(f"{BASE}/search", summary="Search a FAQ base")
async def search(app: Opora, caller: Caller, base_id: Id, body: FaqSearchBody) -> Response:
    """Enabled entries that answer the question, best first; one that must not answer it is left out."""
    whole = await _scope(app, caller, base_id)
    scope = await app.access.bases(caller, [base_id], tag_ids=given(body.tag_ids))
    request = SearchRequest(
        query=body.query_text,
        mode=SearchMode.HYBRID,
        match_count=body.match_count,
        vector_threshold=body.vector_threshold,
    )
    stage = await app.search.search(scope, request)
    entries = await app.faq.by_ids(whole, base_id, [result.chunk_id for result in stage.results])
    found = [
        {**entry_json(entries[result.chunk_id]), "score": result.score, "score_kind": result.kind.value}
        for result in stage.results
        if result.chunk_id in entries
    ]
    return ok(found, warnings=list(stage.warnings)) if stage.warnings else ok(found)


@router.get(f"{BASE}/entries/export", summary="Export the entries", response_class=Response)
async def export(app: Opora, caller: Caller, base_id: Id, format: ExportFormat = ExportFormat.CSV) -> Response:
    """A file that an import takes."""
    scope = await _scope(app, caller, base_id)
    found = await app.faq.browse(scope, base_id, Page(page=1, page_size=EXPORT_ROWS))
    is_csv = format is ExportFormat.CSV
    tags = {one.tag.tag_id: one.tag.name for one in await app.tags.browse(scope, base_id)}
    data = export_csv(found.items, tags) if is_csv else export_json(found.items, tags)
    headers = {"Content-Disposition": f'attachment; filename="faq.{format.value}"'}
    return Response(data, media_type="text/csv; charset=utf-8" if is_csv else "application/json", headers=headers)


_MODES = {
    "mode": {"type": "string", "enum": [mode.value for mode in ImportMode], "default": ImportMode.APPEND.value},
    "dry_run": {"type": "boolean", "default": False},
}
_ENTRIES = {"type": "array", "items": {"type": "object"}}
_FILE = {"type": "string", "format": "binary"}
_IMPORT_BODY = {
    "requestBody": {
        "content": {
            kind: {"schema": {"type": "object", "required": [name], "properties": {name: schema, **_MODES}}}
            for kind, name, schema in (
                ("application/json", "entries", _ENTRIES),
                ("multipart/form-data", "file", _FILE),
            )
        }
    }
}
"""One route takes both, so the framework can't tell the body's shape by itself."""


@router.post(f"{BASE}/entries", status_code=202, summary="Import entries", openapi_extra=_IMPORT_BODY)
async def import_entries(request: Request, app: Opora, caller: Caller, base_id: Id) -> Response:
    """A JSON body with ``entries``, or a form with a CSV, XLSX or JSON ``file``.

    Bad rows are told with their numbers: `append` takes the others, `replace` then changes nothing.
    """
    scope = await _scope(app, caller, base_id)
    if request.headers.get("content-type", "").startswith("multipart/form-data"):
        rows, mode, dry_run = await _form(request, app)
    else:
        body = await _json(request)
        rows, mode, dry_run = listed_rows(body.entries), body.mode, body.dry_run
    task = await app.faq_imports.start(scope, base_id, rows, mode=mode, dry_run=dry_run)
    return ok(import_json(task), status=200 if dry_run else 202)


@router.get("/faq/import/progress/{task_id}", summary="How far an import is")
async def progress(app: Opora, caller: Caller, task_id: Id) -> Response:
    return ok(import_json(await app.faq_imports.get(await app.access.faq_import(caller, task_id), task_id)))


def entry_json(record: FaqRecord) -> dict[str, Any]:
    draft = record.draft
    return {
        "id": record.entry_id,
        "seq_id": record.seq_id,
        "knowledge_base_id": record.base_id,
        "knowledge_id": record.document_id,
        **metadata_of(draft),
        "is_enabled": draft.is_enabled,
        "tag_ids": list(draft.tag_ids),
        "created_at": record.created_at.isoformat(),
        "state": record.state,
        "updated_at": record.updated_at.isoformat(),
    }


def _edit_json(record: FaqRecord) -> dict[str, Any]:
    """What somebody wanted to write: it has no state, because it is not kept."""
    return {name: value for name, value in entry_json(record).items() if name not in ("state", "updated_at")}


def import_json(task: FaqImport) -> dict[str, Any]:
    return {
        "task_id": task.task_id,
        "knowledge_base_id": task.base_id,
        "mode": task.mode.value,
        "status": task.status.value,
        "total": task.total,
        "done": task.done,
        "added": task.added,
        "failed": len(task.problems),
        "new_tags": list(task.new_tags),
        "problems": [asdict(problem) for problem in task.problems],
        "error": task.error,
    }


async def _scope(app: App, caller: Caller, base_id: str) -> Scope:
    return await app.access.bases(caller, [base_id], include_disabled=True)


async def _existing(request: Request, app: App, scope: Scope, base_id: str, conflict: Conflict) -> Response:
    entry = entry_json(await app.faq.get(scope, base_id, conflict.details["entry_id"]))
    return opora_error_response(request.headers.get("accept", ""), conflict, data=entry)


async def _update_many(app: App, scope: Scope, base_id: str, body: EntriesBody) -> Response:
    change = _change(body)
    records = await app.faq.update_many(scope, base_id, {str(ref): change for ref in body.ids})
    return ok([entry_json(record) for record in records])


def _change(body: BaseModel) -> Callable[[FaqDraft], FaqDraft]:
    given_values = {
        name: value for name, value in body.model_dump(exclude={"ids", "state"}).items() if value is not None
    }
    return lambda draft: _changed(draft, given_values)


def _changed(draft: FaqDraft, values: dict[str, Any]) -> FaqDraft:
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    own = {name: values.pop(name) for name in ("is_enabled", "is_recommended", "tag_ids") if name in values}
    return replace(draft, entry=replace(draft.entry, **values), **own)


async def _json(request: Request) -> ImportBody:
    try:
        return ImportBody.model_validate(json.loads(await request.body()))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "body"
        raise InvalidInput.of(field, f"{field}: {first['msg']}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput.of("body", "body: is no JSON") from error


async def _form(request: Request, app: App) -> tuple[list[Numbered], ImportMode, bool]:
    async with request.form(max_files=1) as form:
        file, mode, dry_run = form.get("file"), form.get("mode", "append"), form.get("dry_run", "false")
        if not isinstance(file, UploadFile):
            raise InvalidInput.of("file", "file: is missing")
        if mode not in tuple(ImportMode):
            raise InvalidInput.of("mode", "mode: is 'append' or 'replace'")
        data = await file.read(app.settings.upload_limit + 1)
        if len(data) > app.settings.upload_limit:
            raise TooLarge("The file is too large.", hint="The limit is the setting OPORA_UPLOAD_LIMIT.")
        rows = await app.faq_imports.read(data, file.filename or "")
    return rows, ImportMode(str(mode)), str(dry_run).lower() in ("true", "1", "yes", "on")
