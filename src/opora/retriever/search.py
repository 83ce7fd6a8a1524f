"""One search for context under every door: a scope and a query in, pieces of documents with their sources out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from opora.domain.context import FULLTEXT, FUSED, SEMANTIC, ContextAnswer, ContextQuery, ContextResult
from opora.domain.faq import is_silenced
from opora.domain.knowledge import ChunkType, KnowledgeBase
from opora.domain.scope import Scope
from opora.domain.search import EngineHit, ScoreKind, SearchMode, SearchResult
from opora.ports import Database, Vectoriser
from opora.retrieve.arms import EngineDirectory
from opora.retrieve.bases import bases_of, waiting_work
from opora.retrieve.fanout import GROUP_TIMEOUT, all_or_nothing
from opora.retriever.fusion import CANDIDATES, RRF_K, fuse
from opora.retriever.lists import Candidates, Lists
from opora.retriever.neighbours import Neighbours
from opora.retriever.results import result_of
from opora.text.query import clean_query


class ContextSearch:
    """``expands`` switches neighbours on; they are never added to what words alone have found."""

    def __init__(
        self,
        *,
        database: Database,
        engines: EngineDirectory,
        vectoriser: Vectoriser,
        expands: bool = True,
        seconds: float = GROUP_TIMEOUT,
    ) -> None:
        self._database = database
        self._lists = Lists(database=database, engines=engines, vectoriser=vectoriser, seconds=seconds)
        self._neighbours = Neighbours(database=database, engines=engines, seconds=seconds)
        self._expands = expands

    async def search(self, scope: Scope, query: ContextQuery) -> ContextAnswer:
        """At most ``limit`` pieces, best first, and the neighbours of each.

        Raises `InvalidInput` for a blank question, `NotFound` for a base that is gone, `ModelError` where the search
        needs the question's vector and there is none to be had, `EngineError` when an engine fails: never an answer
        of fewer results in its place.
        """
        question = clean_query(query.question)
        answer = ContextAnswer(query=question, search_type=query.search_type)
        if not scope.bases:
            return replace(answer, warnings=("There is no knowledge base to search.",))
        if scope.document_ids is not None and not scope.document_ids:
            return replace(answer, warnings=("No document fits what the search was limited to.",))
        bases = await bases_of(self._database, scope)
        found, metadata, warnings = await self._found(scope, bases, question, query)
        found = found[: query.limit]
        if query.min_similarity is not None:
            found = _similar(found, query.min_similarity)
            if query.search_type is SearchMode.FULLTEXT:
                warnings = (*warnings, "min_similarity says nothing of what was found by words alone.")
        if not found:
            warnings = (*warnings, *await waiting_work(self._database, scope))
        if self._expands and query.search_type is not SearchMode.FULLTEXT:
            found, more = await self._neighbours.add(scope, bases, found)
            warnings = (*warnings, *more)
        return replace(answer, results=tuple(found), search_metadata=metadata, warnings=warnings)

    async def _found(
        self, scope: Scope, bases: Sequence[KnowledgeBase], question: str, query: ContextQuery
    ) -> tuple[list[ContextResult], Mapping[str, Any], tuple[str, ...]]:
        """Everything that the lists brought and the database still holds, best first."""
        if query.search_type is SearchMode.HYBRID:
            return await self._hybrid(scope, bases, question)
        is_semantic = query.search_type is SearchMode.SEMANTIC
        way = self._lists.semantic if is_semantic else self._lists.fulltext
        name = SEMANTIC if is_semantic else FULLTEXT
        listed = await way(scope, bases, question, query.limit)
        texts = await self._texts(scope, question, listed.ids)
        found = [
            _result(texts[hit.chunk_id], score=hit.score, kind=hit.kind, scores=_score(name, hit), ranks={name: rank})
            for rank, hit in enumerate(listed.hits, start=1)
            if hit.chunk_id in texts
        ]
        return found, {}, listed.warnings

    async def _hybrid(
        self, scope: Scope, bases: Sequence[KnowledgeBase], question: str
    ) -> tuple[list[ContextResult], Mapping[str, Any], tuple[str, ...]]:
        semantic, fulltext = await all_or_nothing(
            [
                partial(self._lists.semantic, scope, bases, question, CANDIDATES, is_only=False),
                partial(self._lists.fulltext, scope, bases, question, CANDIDATES),
            ]
        )
        fused = fuse(semantic.ids, fulltext.ids)
        texts = await self._texts(scope, question, [one.chunk_id for one in fused])
        by_meaning, by_words = _by_id(semantic), _by_id(fulltext)
        found = []
        for one in fused:
            if one.chunk_id in texts:
                scores = {
                    FUSED: one.score,
                    **_score(SEMANTIC, by_meaning.get(one.chunk_id)),
                    **_score(FULLTEXT, by_words.get(one.chunk_id)),
                }
                ranks = {SEMANTIC: one.semantic_rank, FULLTEXT: one.fulltext_rank}
                ranks = {name: rank for name, rank in ranks.items() if rank}
                text = texts[one.chunk_id]
                found.append(_result(text, score=one.score, kind=ScoreKind.RRF, scores=scores, ranks=ranks))
        metadata = {
            "semantic_count": len(semantic.hits),
            "fulltext_count": len(fulltext.hits),
            "fused_count": len(fused),
            "candidates": CANDIDATES,
            "rrf_k": RRF_K,
        }
        return found, metadata, (*semantic.warnings, *fulltext.warnings)

    async def _texts(self, scope: Scope, question: str, chunk_ids: Sequence[str]) -> dict[str, SearchResult]:
        """Those of the pieces that may be returned."""
        async with self._database.read() as repos:
            found = await repos.chunks.hydrate(scope, list(chunk_ids))
        return {
            chunk_id: text
            for chunk_id, text in found.items()
            if not (text.chunk_type is ChunkType.FAQ and is_silenced(text.metadata, question))
        }


def _similar(found: Iterable[ContextResult], least: float) -> list[ContextResult]:
    """Without pieces whose cosine is known and less; one that words alone have found has none to be judged by."""
    return [one for one in found if one.scores.get(SEMANTIC, least) >= least]


def _by_id(listed: Candidates) -> dict[str, EngineHit]:
    return {hit.chunk_id: hit for hit in listed.hits}


def _score(name: str, hit: EngineHit | None) -> dict[str, float]:
    return {} if hit is None or hit.kind is ScoreKind.NONE else {name: hit.score}


def _result(
    text: SearchResult,
    *,
    score: float,
    kind: ScoreKind,
    scores: Mapping[str, float],
    ranks: Mapping[str, int],
) -> ContextResult:
    return replace(result_of(text), score=score, kind=kind, scores=scores, ranks=ranks)
