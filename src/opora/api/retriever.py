"""``/api/search`` and ``/api/vectorize``: context for applications that answer by themselves."""

from __future__ import annotations

import json
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.responses import Response

from opora.api.fields import Cosine, Ids, QueryText
from opora.api.principal import App, Caller, Opora
from opora.domain.context import ContextAnswer, ContextQuery
from opora.domain.scope import Principal
from opora.domain.search import DOOR_MATCH_COUNT, MAX_DOOR_MATCH_COUNT, SearchMode
from opora.retriever.results import answer_json

router = APIRouter(tags=["retriever"])


class ContextSearchBody(BaseModel):
    query: QueryText
    search_type: Annotated[SearchMode, Field(description="Left out: semantic.")] = SearchMode.SEMANTIC
    limit: Annotated[int, Field(strict=True, ge=1, le=MAX_DOOR_MATCH_COUNT)] = DOOR_MATCH_COUNT
    min_similarity: Annotated[
        Cosine | None, Field(description="The least cosine of what was found by meaning; applied after the limit.")
    ] = None
    knowledge_base_ids: Ids | None = None
    knowledge_ids: Ids | None = None
    tag_ids: Ids | None = None

    def asked(self) -> ContextQuery:
        return ContextQuery(
            question=self.query,
            search_type=self.search_type,
            limit=self.limit,
            min_similarity=self.min_similarity,
            base_ids=tuple(self.knowledge_base_ids or ()),
            document_ids=tuple(self.knowledge_ids or ()),
            tag_ids=tuple(self.tag_ids or ()),
        )


class VectorizeBody(BaseModel):
    query: QueryText


@router.post("/search", summary="Find pieces of documents for a question")
async def search(app: Opora, caller: Caller, body: ContextSearchBody) -> Response:
    """By meaning, by words or both. Neighbours of what was found by meaning follow it, so there may be more results
    than ``limit``."""
    return _respond(answer_json(await answered(app, caller, body.asked())))


@router.post("/vectorize", summary="Try whether a question can be made a vector")
async def vectorize(app: Opora, caller: Caller, body: VectorizeBody) -> Response:
    """By the embedding model of the installation."""
    made = await app.vectoriser.vectorise(body.query)
    numbers = np.asarray(made.vector, np.float32).tolist()
    return _respond({"query": body.query, "model": made.identity, "dimension": len(numbers), "vector": numbers})


async def answered(app: App, caller: Principal, query: ContextQuery) -> ContextAnswer:
    """The search over what the caller may see."""
    scope = await app.access.bases(
        caller,
        list(query.base_ids) or None,
        document_ids=query.document_ids or None,
        tag_ids=query.tag_ids or None,
    )
    answer: ContextAnswer = await app.context.search(scope, query)
    return answer


def _respond(body: dict[str, Any]) -> Response:
    content = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str)
    return Response(content.encode("utf-8", "replace"), media_type="application/json")
