"""Knowledge bases: make, list, see, rename, pin, delete."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field, model_validator
from starlette.responses import Response

from opora.api.envelope import Id, Paging, listed, ok
from opora.api.fields import Description, Name
from opora.api.principal import Caller, Opora
from opora.api.shapes import base_json
from opora.domain.enrichment import MAX_QUESTION_COUNT, QUESTION_COUNT, TOKEN_BUDGET, EnrichmentConfig
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


class FaqBody(BaseModel):
    index_mode: FaqIndexMode = FaqIndexMode.QUESTION_ONLY


class EnrichmentBody(BaseModel):
    """What a chat model adds to documents that are taken in; all of it is off by default."""

    summary: bool = False
    tables: bool = False
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


class BaseChanges(BaseModel):
    name: Name | None = None
    description: Description | None = None
    enrichment_config: EnrichmentBody | None = None
    embedding_model_id: Annotated[
        Id | None, Field(description="Another embedding model, while the base holds no vectors.")
    ] = None


@router.post("", status_code=201, summary="Make a knowledge base")
async def create(app: Opora, caller: Caller, body: BaseBody) -> Response:
    base = await app.bases.create(
        await app.access.tenant(caller),
        name=body.name,
        base_type=body.type,
        description=body.description,
        chunking=body.chunking_config.config(),
        indexing=IndexingStrategy(**body.indexing_strategy.model_dump()),
        enrichment=body.enrichment_config.config(),
        faq=FaqConfig(index_mode=body.faq_config.index_mode),
        embedding_model_id=body.embedding_model_id,
    )
    return ok(base_json(base), status=201)


@router.get("", summary="List knowledge bases")
async def browse(
    app: Opora, caller: Caller, page: Paging, name: Annotated[str, Query(max_length=255)] = ""
) -> Response:
    return listed(await app.bases.browse(await app.access.tenant(caller), page, name=name), page, base_json)


@router.get("/{base_id}", summary="See a knowledge base")
async def get(app: Opora, caller: Caller, base_id: Id) -> Response:
    return ok(base_json(await app.bases.get(await app.access.bases(caller, [base_id]), base_id)))


@router.put("/{base_id}", summary="Rename or describe a knowledge base")
async def update(app: Opora, caller: Caller, base_id: Id, body: BaseChanges) -> Response:
    scope = await app.access.bases(caller, [base_id])
    enrichment = body.enrichment_config.config() if body.enrichment_config else None
    base = await app.bases.update(
        scope,
        base_id,
        name=body.name,
        description=body.description,
        enrichment=enrichment,
        embedding_model_id=body.embedding_model_id,
    )
    return ok(base_json(base))


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
