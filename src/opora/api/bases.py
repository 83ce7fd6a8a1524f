"""Knowledge bases: make, list, see, change, duplicate, count, pin, delete."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field, ValidationError, model_validator
from starlette.requests import Request
from starlette.responses import Response

from opora.api.envelope import Id, Paging, listed, ok
from opora.api.errors import opora_error_response
from opora.api.fields import Description, Name
from opora.api.principal import App, Caller, Opora
from opora.api.shapes import base_json, difference_json, statistics_json
from opora.domain.enrichment import MAX_QUESTION_COUNT, QUESTION_COUNT, TOKEN_BUDGET, EnrichmentConfig
from opora.domain.errors import Conflict, InvalidInput, NotFound
from opora.domain.knowledge import (
    CHILD_CHUNK_SIZE,
    CHUNK_HARD_CAP,
    CHUNK_OVERLAP,
    CHUNK_SIZE,
    PARENT_CHUNK_SIZE,
    BaseType,
    ChunkingConfig,
    FaqConfig,
    FaqIndexMode,
    IndexingStrategy,
)
from opora.domain.scope import Principal
from opora.knowledge.base_settings import Fixed

router = APIRouter(prefix="/knowledge-bases", tags=["knowledge bases"])

MIN_CHUNK_SIZE = 64

Size = Annotated[int, Field(ge=MIN_CHUNK_SIZE, le=CHUNK_HARD_CAP)]


class ChunkingBody(BaseModel):
    chunk_size: Size = CHUNK_SIZE
    chunk_overlap: Annotated[int, Field(ge=0, le=CHUNK_HARD_CAP)] = CHUNK_OVERLAP
    enable_parent_child: bool = False
    parent_chunk_size: Size = PARENT_CHUNK_SIZE
    child_chunk_size: Size = CHILD_CHUNK_SIZE

    @model_validator(mode="after")
    def _fits(self) -> ChunkingBody:
        if self.chunk_overlap >= self.chunk_size:
            raise ValueError("chunk_overlap must be smaller than chunk_size")
        if self.enable_parent_child and self.child_chunk_size > self.parent_chunk_size:
            raise ValueError("child_chunk_size must not be larger than parent_chunk_size")
        return self

    def config(self) -> ChunkingConfig:
        return ChunkingConfig(
            size=self.chunk_size,
            overlap=self.chunk_overlap,
            parent_child=self.enable_parent_child,
            parent_size=self.parent_chunk_size,
            child_size=self.child_chunk_size,
            child_overlap=self.child_chunk_size // 5,
        )


class IndexingBody(BaseModel):
    vector: bool = True
    keyword: bool = True
    wiki: bool = False
    graph: bool = False


class ChunkingChanges(BaseModel):
    chunk_size: Size | None = None
    chunk_overlap: Annotated[int | None, Field(ge=0, le=CHUNK_HARD_CAP)] = None
    enable_parent_child: bool | None = None
    parent_chunk_size: Size | None = None
    child_chunk_size: Size | None = None


class IndexingChanges(BaseModel):
    vector: bool | None = None
    keyword: bool | None = None
    wiki: bool | None = None
    graph: bool | None = None


class FaqBody(BaseModel):
    index_mode: FaqIndexMode = FaqIndexMode.QUESTION_ONLY


class EnrichmentBody(BaseModel):
    """What a chat model adds to documents that are taken in; all of it is off by default."""

    summary: bool = False
    tables: bool = False
    tags: bool = False
    new_tags: bool = False
    questions: bool = False
    base_description: bool = False
    question_count: Annotated[int, Field(ge=1, le=MAX_QUESTION_COUNT)] = QUESTION_COUNT
    token_budget: Annotated[int, Field(ge=0, description="Tokens a document may cost; 0 is no limit.")] = TOKEN_BUDGET

    def config(self) -> EnrichmentConfig:
        return EnrichmentConfig(**self.model_dump())


class BaseBody(BaseModel):
    name: Name
    type: BaseType = BaseType.DOCUMENT
    description: Description = ""
    chunking_config: ChunkingBody = Field(default_factory=ChunkingBody)
    indexing_strategy: IndexingBody = Field(default_factory=IndexingBody)
    enrichment_config: EnrichmentBody = Field(default_factory=EnrichmentBody)
    faq_config: FaqBody = Field(default_factory=FaqBody)
    embedding_model_id: Annotated[Id, Field(description="A model of the registry; left out: the installation's.")] = ""
    vector_store_id: Annotated[Id, Field(description="The store that holds its rows; left out: the one there is.")] = ""


class BaseChanges(BaseModel):
    """What is left out stays, in the objects too."""

    name: Name | None = None
    description: Description | None = None
    is_pinned: bool | None = None
    chunking_config: ChunkingChanges | None = None
    indexing_strategy: IndexingChanges | None = None
    enrichment_config: EnrichmentBody | None = None
    embedding_model_id: Annotated[
        Id | None, Field(description="Another embedding model, while the base holds no vectors.")
    ] = None
    type: Annotated[BaseType | None, Field(description="Refused where it is another one.")] = None
    faq_config: Annotated[FaqBody | None, Field(description="Refused where it is another one.")] = None
    vector_store_id: Annotated[Id | None, Field(description="Refused where it is another one.")] = None


class DuplicateBody(BaseModel):
    name: Annotated[Name | None, Field(description="Left out: that of the source with a number behind it.")] = None


@router.post("", status_code=201, summary="Make a knowledge base")
async def create(request: Request, app: Opora, caller: Caller, body: BaseBody) -> Response:
    """409 for a name that another base has, whatever its case; ``data`` is that base."""
    try:
        base = await app.bases.create(
            await app.access.tenant(caller),
            name=body.name,
            base_type=body.type,
            description=body.description,
            chunking=body.chunking_config.config(),
            indexing=IndexingStrategy(**body.indexing_strategy.model_dump()),
            enrichment=body.enrichment_config.config(),
            faq=FaqConfig(index_mode=body.faq_config.index_mode),
            vector_store_id=body.vector_store_id,
            embedding_model_id=body.embedding_model_id,
        )
    except Conflict as conflict:
        return await existing(request, app, caller, conflict)
    return ok(base_json(base), status=201)


@router.get("", summary="List knowledge bases")
async def browse(
    app: Opora, caller: Caller, page: Paging, name: Annotated[str, Query(max_length=255)] = ""
) -> Response:
    return listed(await app.bases.browse(await app.access.tenant(caller), page, name=name), page, base_json)


@router.get("/{base_id}", summary="See a knowledge base")
async def get(app: Opora, caller: Caller, base_id: Id) -> Response:
    return ok(base_json(await app.bases.get(await app.access.bases(caller, [base_id]), base_id)))


@router.put("/{base_id}", summary="Change a knowledge base")
async def update(request: Request, app: Opora, caller: Caller, base_id: Id, body: BaseChanges) -> Response:
    """409 with the reason for what is settled when a base is made, and for a name that another base has."""
    scope = await app.access.bases(caller, [base_id])
    before = base_json(await app.bases.get(scope, base_id))
    chunking = _merged(before["chunking_config"], body.chunking_config)
    indexing = _merged(before["indexing_strategy"], body.indexing_strategy)
    try:
        base = await app.bases.update(
            scope,
            base_id,
            name=body.name,
            description=body.description,
            is_pinned=body.is_pinned,
            enrichment=body.enrichment_config.config() if body.enrichment_config else None,
            chunking=_chunking(chunking) if chunking else None,
            indexing=IndexingStrategy(**indexing) if indexing else None,
            embedding_model_id=body.embedding_model_id,
            fixed=Fixed(
                base_type=body.type,
                vector_store_id=body.vector_store_id,
                faq=FaqConfig(index_mode=body.faq_config.index_mode) if body.faq_config else None,
            ),
        )
    except Conflict as conflict:
        return await existing(request, app, caller, conflict)
    return ok(base_json(base))


def _merged(there: dict[str, Any], changes: BaseModel | None) -> dict[str, Any] | None:
    return None if changes is None else there | changes.model_dump(exclude_none=True)


def _chunking(values: dict[str, Any]) -> ChunkingConfig:
    """The sizes together, as they come to be: each of them fits by itself."""
    try:
        return ChunkingBody(**values).config()
    except ValidationError as error:
        message = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise InvalidInput.of("chunking_config", message) from error


@router.post("/{base_id}/duplicate", status_code=201, summary="Make an empty base with the same settings")
async def duplicate(
    request: Request, app: Opora, caller: Caller, base_id: Id, body: DuplicateBody | None = None
) -> Response:
    scope = await app.access.bases(caller, [base_id])
    try:
        base = await app.bases.duplicate(scope, base_id, name=body.name if body else None)
    except Conflict as conflict:
        return await existing(request, app, caller, conflict)
    return ok(base_json(base), status=201)


@router.get("/{base_id}/stats", summary="How much a knowledge base holds")
async def statistics(app: Opora, caller: Caller, base_id: Id) -> Response:
    scope = await app.access.bases(caller, [base_id], include_disabled=True)
    return ok(statistics_json(await app.index.statistics(scope, base_id)))


@router.get("/{base_id}/index", summary="Does the search engine hold what the database says?")
async def compare(app: Opora, caller: Caller, base_id: Id) -> Response:
    """Counts of rows. While documents are being taken in, differences are normal."""
    scope = await app.access.bases(caller, [base_id], include_disabled=True)
    return ok(difference_json(await app.index.compare(scope, base_id)))


@router.post("/{base_id}/index", status_code=202, summary="Mend what the search engine holds")
async def mend(app: Opora, caller: Caller, base_id: Id) -> Response:
    """A worker writes again what is missing, and takes out what belongs to nothing."""
    scope = await app.access.bases(caller, [base_id], include_disabled=True)
    await app.index.mend(scope, base_id)
    return ok({"id": base_id}, status=202)


async def existing(request: Request, app: App, caller: Principal, conflict: Conflict) -> Response:
    """409 with the base that has the name already, where it is one that can be shown."""
    base_id = conflict.details.get("base_id")
    if base_id is None:
        raise conflict
    try:
        base = base_json(await app.bases.get(await app.access.bases(caller, [base_id]), base_id))
    except NotFound:
        # A copy that is not complete yet.
        raise conflict from None
    return opora_error_response(request.headers.get("accept", ""), conflict, data=base)


@router.post("/{base_id}/enrich", status_code=202, summary="Enrich the documents that are there")
async def enrich(app: Opora, caller: Caller, base_id: Id) -> Response:
    """For what was switched on after they came, and for what was given up. Answers how many documents are queued."""
    queued = await app.bases.enrich(await app.access.bases(caller, [base_id]), base_id)
    return ok({"queued": queued}, status=202)


@router.delete("/{base_id}", summary="Delete a knowledge base with its documents")
async def delete(app: Opora, caller: Caller, base_id: Id) -> Response:
    await app.bases.delete(await app.access.bases(caller, [base_id]), base_id)
    return ok({"id": base_id})


@router.post("/{base_id}/pin", summary="Pin a knowledge base")
async def pin(app: Opora, caller: Caller, base_id: Id) -> Response:
    scope = await app.access.bases(caller, [base_id])
    return ok(base_json(await app.bases.update(scope, base_id, is_pinned=True)))


@router.delete("/{base_id}/pin", summary="Unpin a knowledge base")
async def unpin(app: Opora, caller: Caller, base_id: Id) -> Response:
    scope = await app.access.bases(caller, [base_id])
    return ok(base_json(await app.bases.update(scope, base_id, is_pinned=False)))
