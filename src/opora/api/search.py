"""Search: over any bases and documents of the caller, or in one base."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, ClassVar

from fastapi import APIRouter
from pydantic import BaseModel, Field, model_validator
from starlette.responses import Response

from opora.api.envelope import Id, ok
from opora.api.fields import Cosine, Folder, Ids, MetadataFilter, QueryText, Share, filter_of, given
from opora.api.principal import Caller, Opora
from opora.domain.scope import Scope
from opora.domain.search import DOOR_MATCH_COUNT, MAX_DOOR_MATCH_COUNT, SearchMode, SearchRequest
from opora.domain.trace import Stage
from opora.pipeline.trace import candidates
from opora.stream.results import result_json

router = APIRouter(tags=["search"])

MatchCount = Annotated[
    int | None,
    Field(strict=True, ge=1, le=MAX_DOOR_MATCH_COUNT, description=f"Left out or null: {DOOR_MATCH_COUNT}."),
]


class SearchOptions(BaseModel):
    one_space: ClassVar[bool] = False
    """Whether bases of different embedding models are refused."""

    mode: SearchMode | None = None
    match_count: MatchCount = None
    vector_threshold: Cosine | None = None
    keyword_threshold: Share | None = None
    disable_vector_match: bool = False
    disable_keywords_match: bool = False
    knowledge_ids: Ids | None = None
    tag_ids: Ids | None = None
    rerank_model_id: Annotated[Id, Field(description="A reranking model that judges what was found.")] = ""
    folder: Folder = ""
    metadata_filter: MetadataFilter | None = None
    explain: bool = False

    @model_validator(mode="after")
    def _something_is_left(self) -> SearchOptions:
        self.effective_mode()
        return self

    def effective_mode(self) -> SearchMode:
        """Raises `ValueError` when the switches leave no way of searching."""
        arms = {SearchMode.SEMANTIC, SearchMode.FULLTEXT} if self.mode in (None, SearchMode.HYBRID) else {self.mode}
        if self.disable_vector_match:
            arms = arms - {SearchMode.SEMANTIC}
        if self.disable_keywords_match:
            arms = arms - {SearchMode.FULLTEXT}
        if not arms:
            raise ValueError("mode, disable_vector_match and disable_keywords_match leave nothing to search with")
        return SearchMode.HYBRID if len(arms) == 2 else SearchMode(*arms)

    def request(self, query: str) -> SearchRequest:
        return SearchRequest(
            query=query,
            mode=self.effective_mode(),
            match_count=DOOR_MATCH_COUNT if self.match_count is None else self.match_count,
            vector_threshold=self.vector_threshold,
            keyword_threshold=self.keyword_threshold,
            one_space=self.one_space,
        )


class KnowledgeSearchBody(SearchOptions):
    query: QueryText
    knowledge_base_ids: Ids | None = None


class HybridSearchBody(SearchOptions):
    one_space: ClassVar[bool] = True

    query_text: QueryText
    knowledge_base_ids: Annotated[
        Ids | None, Field(description="Bases beside that of the address, embedded by the same model.")
    ] = None


@router.post("/knowledge-search", summary="Search knowledge bases")
async def knowledge_search(app: Opora, caller: Caller, body: KnowledgeSearchBody) -> Response:
    """Passages that answer the query, best first, over the given bases or all of them."""
    scope = await app.access.bases(
        caller,
        given(body.knowledge_base_ids),
        document_ids=given(body.knowledge_ids),
        tag_ids=given(body.tag_ids),
        folder=body.folder,
        fits=filter_of(body.metadata_filter),
    )
    return await _search(app, scope, body.request(body.query), body)


@router.post(
    "/knowledge-bases/{base_id}/hybrid-search", summary="Search one knowledge base, or some of one embedding model"
)
async def hybrid_search(app: Opora, caller: Caller, base_id: Id, body: HybridSearchBody) -> Response:
    scope = await app.access.bases(
        caller,
        list(dict.fromkeys([base_id, *(body.knowledge_base_ids or ())])),
        document_ids=given(body.knowledge_ids),
        tag_ids=given(body.tag_ids),
        folder=body.folder,
        fits=filter_of(body.metadata_filter),
    )
    return await _search(app, scope, body.request(body.query_text), body)


async def _search(app: Opora, scope: Scope, request: SearchRequest, options: SearchOptions) -> Response:
    tenant = await app.layers.tenant(scope)
    stage: Stage = await app.ranked_search.search(
        scope, request, settings=app.effective(tenant.retrieval), rerank_model_id=options.rerank_model_id
    )
    beside: dict[str, Any] = {}
    if stage.warnings:
        beside["warnings"] = list(stage.warnings)
    if options.explain:
        if options.folder or options.metadata_filter:
            beside["documents_searched"] = len(scope.document_ids or ())
        found = candidates([("found", stage.results)], stage.drops)
        beside["candidates"] = [asdict(candidate) for candidate in found]
    return ok([result_json(result) for result in stage.results], **beside)
