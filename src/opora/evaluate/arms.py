"""Asks every question of a dataset by each arm through the one funnel of retrieval, and keeps the rankings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from opora.domain.errors import ModelError
from opora.domain.scope import Scope
from opora.domain.search import SearchMode, SearchRequest, SearchResult
from opora.domain.settings import Effective
from opora.domain.trace import Stage
from opora.evaluate.runs import MAIN_ARM
from opora.ports import EmbedderCard, Reranker
from opora.rank.rerank import rerank
from opora.retrieve.fuse import CONVEX

VECTOR, KEYWORD, HYBRID, CONVEX_ARM, RERANK = "vector", "keyword", MAIN_ARM, "convex", "rerank"
ARMS = (VECTOR, KEYWORD, HYBRID, CONVEX_ARM, RERANK)


class Searcher(Protocol):
    """The one funnel of retrieval (`opora.retrieve.search.Search`)."""

    async def search(self, scope: Scope, request: SearchRequest, *, settings: Effective | None = None) -> Stage: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Arms:
    """The arms of one base. Without an embedding model there is no vector arm, without a reranker none for it."""

    search: Searcher
    scope: Scope
    settings: Effective
    card: EmbedderCard | None = None
    reranker: Reranker | None = None

    @property
    def model(self) -> str:
        return self.card.identity if self.card is not None else "words alone"

    @property
    def model_floor(self) -> float:
        return self.card.vector_threshold if self.card is not None else 0.0

    @property
    def names(self) -> tuple[str, ...]:
        absent = {*(() if self.card else (VECTOR,)), *(() if self.reranker else (RERANK,))}
        return tuple(arm for arm in ARMS if arm not in absent)

    async def rank(self, arm: str, query: str) -> tuple[SearchResult, ...]:
        """What the arm finds, best first, at the depth that chat searches.

        The keyword arm is measured as fusion sees it: without the threshold that a search by words alone has.
        """
        depth = self.settings.values.embedding_top_k
        request = {
            VECTOR: SearchRequest(query=query, match_count=depth, mode=SearchMode.SEMANTIC),
            KEYWORD: SearchRequest(query=query, match_count=depth, mode=SearchMode.FULLTEXT, keyword_threshold=0.0),
            CONVEX_ARM: SearchRequest(query=query, match_count=depth, profile=CONVEX),
        }.get(arm, SearchRequest(query=query, match_count=depth))
        stage = await self.search.search(self.scope, request, settings=self.settings)
        if arm != RERANK:
            return stage.results
        return await self._reranked(query, stage.results)

    async def rankings(self, arm: str, queries: Mapping[str, str]) -> dict[str, list[tuple[str, float]]]:
        """Chunk ids with their scores by query id."""
        return {
            query_id: [(result.chunk_id, result.score) for result in await self.rank(arm, query)]
            for query_id, query in queries.items()
        }

    async def _reranked(self, query: str, results: tuple[SearchResult, ...]) -> tuple[SearchResult, ...]:
        """Raises what the reranker raises: a failed model must not be measured as a good retrieval order."""
        judged = await rerank(
            results,
            query=query,
            values=self.settings.values,
            reranker=self.reranker,
            explicit_scope=False,
            vector_threshold=0.0,
        )
        if judged.warnings:
            raise ModelError(judged.warnings[0], hint="Check the reranking model: without it there is no such arm.")
        return judged.results
