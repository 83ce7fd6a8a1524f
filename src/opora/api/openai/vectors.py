"""``/v1/embeddings`` and ``/v1/rerank``: the models of the installation and of the registry, for other programs."""

from __future__ import annotations

import base64
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.responses import Response

from opora.api.fields import QueryText
from opora.api.openai.names import EVERYTHING, entry_of
from opora.api.openai.route import OpenAiRoute, respond
from opora.api.principal import App, Caller, Opora
from opora.domain.errors import InvalidInput, ModelNotConfigured
from opora.domain.models import ModelKind
from opora.domain.scope import Principal
from opora.ports import Embedder, Reranker
from opora.text.token_count import estimate_tokens

router = APIRouter(tags=["openai"], route_class=OpenAiRoute)

MAX_INPUTS = 2_048
MAX_DOCUMENTS = 1_000

Text = Annotated[str, Field(min_length=1)]
Tokens = list[int]


class EmbeddingsBody(BaseModel):
    model: Annotated[str, Field(max_length=1_000)]
    input: Text | Annotated[list[Text], Field(min_length=1, max_length=MAX_INPUTS)] | Tokens | list[Tokens]
    input_type: Annotated[
        Literal["query", "passage"], Field(description="Questions and passages have vectors of their own.")
    ] = "passage"
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None

    def texts(self) -> list[str]:
        """Raises `InvalidInput` for numbers of tokens: those of another model mean nothing here."""
        given = [self.input] if isinstance(self.input, str) else self.input
        texts = [one for one in given if isinstance(one, str)]
        if len(texts) < len(given):
            hint = "Switch off the client's own counting of tokens."
            raise InvalidInput.of("input", "This server takes texts, no tokens.", hint=hint)
        if not texts:
            raise InvalidInput.of("input", "There is no text.")
        return texts


class Document(BaseModel):
    text: str


class RerankBody(BaseModel):
    model: Annotated[str, Field(max_length=1_000)] = EVERYTHING
    query: QueryText
    documents: Annotated[list[str | Document], Field(min_length=1, max_length=MAX_DOCUMENTS)]
    top_n: Annotated[int | None, Field(ge=1)] = None
    return_documents: bool = False


@router.post("/embeddings", summary="Vectors of texts")
async def embeddings(app: Opora, caller: Caller, body: EmbeddingsBody) -> Response:
    embedder = await _embedder(app, caller, body.model)
    texts = body.texts()
    _check_dimensions(body.dimensions, embedder.card.dimension)
    if body.input_type == "query":
        vectors = [await embedder.embed_query(text) for text in texts]
    else:
        vectors = list(await embedder.embed_passages(texts))
    card = embedder.card
    _check_dimensions(body.dimensions, card.dimension)
    data = [
        {"object": "embedding", "index": index, "embedding": _encoded(vector, body.encoding_format)}
        for index, vector in enumerate(vectors)
    ]
    return respond({"object": "list", "data": data, "model": card.identity, "usage": _usage(texts)})


@router.post("/rerank", summary="Scores of passages for a question")
async def rerank(app: Opora, caller: Caller, body: RerankBody) -> Response:
    """Best first, each with its place in the request."""
    reranker = await _reranker(app, caller, body.model)
    texts = [one if isinstance(one, str) else one.text for one in body.documents]
    scores = await reranker.rerank(body.query, texts)
    order = sorted(range(len(texts)), key=lambda index: (-scores[index], index))[: body.top_n]
    results: list[dict[str, Any]] = [{"index": index, "relevance_score": scores[index]} for index in order]
    if body.return_documents:
        for result in results:
            result["document"] = {"text": texts[result["index"]]}
    return respond({"model": reranker.card.identity, "results": results, "usage": _usage([body.query, *texts])})


async def _embedder(app: App, caller: Principal, name: str) -> Embedder:
    embedder: Embedder | None = app.embedder
    if embedder is not None and name in (embedder.card.identity, EVERYTHING):
        return embedder
    if embedder is None and name == EVERYTHING:
        raise ModelNotConfigured("There is no embedding model.", hint="Set OPORA_EMBEDDING.")
    entry = await entry_of(app, caller, ModelKind.EMBEDDING, name)
    own: Embedder = await app.registry.embedder(await app.access.tenant(caller), entry.model_id)
    return own


async def _reranker(app: App, caller: Principal, name: str) -> Reranker:
    reranker: Reranker | None = app.reranker
    if reranker is not None and name in (reranker.card.identity, EVERYTHING):
        return reranker
    if reranker is None and name == EVERYTHING:
        raise ModelNotConfigured("There is no reranking model.", hint="Set one; the guide to settings says how.")
    entry = await entry_of(app, caller, ModelKind.RERANK, name)
    scope = await app.access.tenant(caller)
    own = await app.registry.reranker(scope, entry.model_id, asked_for=True)
    assert own is not None, "an entry that was named"
    return own


def _check_dimensions(wanted: int | None, there: int) -> None:
    """``there`` is 0 before a model has given its first vector."""
    if there and wanted not in (None, there):
        raise InvalidInput.of("dimensions", f"Vectors of this model have {there} numbers.")


def _encoded(vector: Any, encoding: str) -> list[float] | str:
    """Numbers, or the bytes of little-endian floats, which clients ask for to save the time of reading numbers."""
    if encoding == "base64":
        return base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode("ascii")
    numbers: list[float] = np.asarray(vector, dtype=np.float32).tolist()
    return numbers


def _usage(texts: list[str]) -> dict[str, int]:
    tokens = sum(map(estimate_tokens, texts))
    return {"prompt_tokens": tokens, "total_tokens": tokens}
