"""Search for people and programs: what retrieval finds, judged by a reranking model where one is asked for."""

from __future__ import annotations

from dataclasses import replace

from opora.chat.registry import ModelRegistry
from opora.domain.scope import Scope
from opora.domain.search import SearchRequest
from opora.domain.settings import Effective
from opora.domain.trace import Drop, Stage
from opora.rank.rank import rank
from opora.retrieve.search import Search
from opora.retrieve.targets import normalised_match_count


class RankedSearch:
    """The way of a question without its answer."""

    def __init__(self, search: Search, registry: ModelRegistry) -> None:
        self._search = search
        self._registry = registry

    async def search(
        self, scope: Scope, request: SearchRequest, *, settings: Effective, rerank_model_id: str = ""
    ) -> Stage:
        """At most ``match_count`` passages. With a reranking model it is they that a question would be answered from:
        the candidates of a question are judged, and the best are picked for variety.

        ``rerank_model_id`` stands above that of the settings. Raises `NotFound` where it is unknown; a model that
        fails costs a warning, and the order is that of retrieval.
        """
        values, count = settings.values, normalised_match_count(request.match_count)
        model_id = rerank_model_id or values.rerank_model_id
        if not model_id:
            return _cut(await self._search.search(scope, request, settings=settings), count)
        reranker = await self._registry.reranker(scope, model_id, asked_for=bool(rerank_model_id))
        deep = replace(request, match_count=max(count, values.embedding_top_k))
        found = await self._search.search(scope, deep, settings=settings)
        ranked = await rank(
            found.results,
            query=request.query,
            settings=replace(settings, values=replace(values, rerank_top_k=count)),
            reranker=reranker,
            explicit_scope=scope.is_explicit,
            vector_threshold=values.vector_threshold or 0.0,
        )
        return replace(
            ranked,
            drops=(*found.drops, *ranked.drops),
            warnings=(*found.warnings, *ranked.warnings),
            model_floor=found.model_floor,
        )


def _cut(stage: Stage, count: int) -> Stage:
    """Bases of several models have brought so many each."""
    rest = stage.results[count:]
    drops = [
        Drop(chunk_id=result.chunk_id, stage="found", reason="over_match_count", detail=f"rank {rank}")
        for rank, result in enumerate(rest, start=count + 1)
    ]
    return replace(stage, results=stage.results[:count], drops=(*stage.drops, *drops))
