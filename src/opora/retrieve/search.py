"""The one funnel of retrieval under search, chat and every other way in: a question and a scope in, passages out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

from opora.domain.errors import ModelNotConfigured
from opora.domain.faq import is_silenced
from opora.domain.knowledge import BaseType, ChunkType, KnowledgeBase
from opora.domain.scope import Scope
from opora.domain.search import MatchType, ScoreKind, SearchMode, SearchRequest, SearchResult
from opora.domain.settings import Effective, Origin, RetrievalSettings
from opora.domain.trace import Drop, Stage
from opora.ports import Database, Embedder, Embedders, Vectors
from opora.retrieve import expand, faq
from opora.retrieve.arms import Arms, EngineDirectory
from opora.retrieve.bases import bases_of, waiting_work
from opora.retrieve.fanout import GROUP_TIMEOUT, all_or_nothing
from opora.retrieve.fuse import KEYWORD, VECTOR, ArmList, Fused, fuse
from opora.retrieve.limits import Limits, settle
from opora.retrieve.question_vector import question_vector
from opora.retrieve.scales import by_own_best
from opora.retrieve.spaces import Space, by_space, model_floor, require_one_space, united
from opora.retrieve.targets import Plan, has_vectors, plan
from opora.text.query import clean_query

STAGE = "found"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Round:
    """One search at one depth: what was fused, what a threshold dropped, how long the vector lists were."""

    items: list[Fused]
    drops: list[Drop]
    vector_sizes: list[int]


class Search:
    """Hybrid search. Bases for which there is no embedding model are searched by words alone.

    ``defaults`` are the installation's settings, for callers that bring none of their own.
    """

    def __init__(
        self,
        *,
        database: Database,
        engines: EngineDirectory,
        embedders: Embedders,
        timeout: float = GROUP_TIMEOUT,
        defaults: Effective | None = None,
    ) -> None:
        self._database = database
        self._engines = engines
        self._embedders = embedders
        self._timeout = timeout
        self._defaults = defaults or Effective()

    async def search(self, scope: Scope, request: SearchRequest, *, settings: Effective | None = None) -> Stage:
        """The best passages of the scope for a question.

        Bases are searched by the model of their vectors, all models at once, each with one vector of the question.
        Raises `InvalidInput` for a blank or overlong question, `NotFound` for a base that is gone,
        `ModelNotConfigured` for a semantic search without a model, `EngineError` when an arm fails: never an empty
        result in its place.
        """
        query = clean_query(request.query)
        if not scope.bases:
            return Stage(warnings=("There is no knowledge base to search.",))
        if scope.document_ids is not None and not scope.document_ids:
            return Stage(warnings=("No document fits what the search was limited to.",))
        values = _own_floors(settings or self._defaults)
        spaces = await self._spaces(await bases_of(self._database, scope), request.mode)
        if request.one_space:
            require_one_space(spaces)
        plans = [plan(space.bases, request.mode, space.identity) for space in spaces]
        if request.mode is SearchMode.SEMANTIC and not any(chosen.needs_vector for chosen in plans):
            raise ModelNotConfigured(
                "These knowledge bases can't be searched by meaning: there is no embedding model for their vectors.",
                hint="Set an embedding model (OPORA_EMBEDDING), or search by words.",
            )
        calls = [
            partial(self._in_space, scope, space, chosen, query, request, values)
            for space, chosen in zip(spaces, plans, strict=True)
        ]
        stage = united(await all_or_nothing(calls))
        if not stage.results:
            stage = replace(stage, warnings=(*stage.warnings, *await waiting_work(self._database, scope)))
        return replace(stage, model_floor=model_floor(spaces))

    async def _spaces(self, bases: Sequence[KnowledgeBase], mode: SearchMode) -> list[Space]:
        """The bases by the model of their vectors; words alone need none."""
        if mode is SearchMode.FULLTEXT:
            return [Space(embedder=None, bases=tuple(bases))]
        found: dict[tuple[str, str], Embedder | None] = {}
        for base in bases:
            if has_vectors(base) and _model_of(base) not in found:
                found[_model_of(base)] = await self._embedders.of(base)
        return by_space((base, found.get(_model_of(base))) for base in bases)

    async def _in_space(
        self, scope: Scope, space: Space, chosen: Plan, query: str, request: SearchRequest, values: RetrievalSettings
    ) -> Stage:
        """One hybrid search: bases whose vectors, if any, are of one model."""
        bases = space.bases
        inside = scope.narrowed(base_ids=tuple(base.base_id for base in bases))
        warnings = _missing_vectors(chosen, request.mode)
        vector = _start_embedding(space.embedder, query, request.mode)
        try:
            threshold = space.embedder.card.vector_threshold if space.embedder is not None else 0.0
            limits = settle(inside, request, values, bases=len(bases), model_threshold=threshold)
            arms = Arms(
                inside,
                chosen.groups,
                engines=self._engines,
                query=query,
                vector=vector,
                seconds=self._timeout,
                living=partial(self._living, inside),
            )
            found = await self._rounds(arms, limits, bases[0].base_type is BaseType.FAQ)
        finally:
            _settle_future(vector)
        if expand.is_wanted(values, found=len(found.items), has_words=any(g.keyword_ids for g in chosen.groups)):
            warnings += await self._expand(arms, query, found, values, limits)
        results, drops = await self._hydrate(inside, (query, request.asked), found.items, limits.match_count)
        return Stage(results=tuple(results), drops=(*found.drops, *drops), warnings=tuple(warnings))

    async def _living(self, scope: Scope, chunk_ids: Collection[str]) -> set[str]:
        async with self._database.read() as repos:
            return await repos.chunks.present(scope, chunk_ids)

    async def _rounds(self, arms: Arms, limits: Limits, is_faq: bool) -> _Round:
        """The first search, and deeper ones where a FAQ base's rows repeat their chunks."""

        async def at(depth: int) -> _Round:
            return _fused(await arms.search(depth, limits.vector_threshold), limits)

        def is_enough(one: _Round, depth: int) -> bool:
            return not faq.needs_deepening(
                found=len(one.items), wanted=limits.match_count, top_k=depth, list_sizes=one.vector_sizes
            )

        first = await at(limits.top_k)
        return await faq.deepen(first, top_k=limits.top_k, search=at, is_enough=is_enough) if is_faq else first

    async def _expand(
        self, arms: Arms, query: str, found: _Round, values: RetrievalSettings, limits: Limits
    ) -> list[str]:
        """Add chunks that only other wordings find, after those found already; its failure is a warning."""
        known = {item.chunk_id for item in found.items}
        extra, warning = await expand.search(
            query, arms.keyword, top_k=expand.top_k(values), threshold=expand.threshold(limits.keyword_threshold)
        )
        share = limits.weights.keyword / (limits.weights.vector + limits.weights.keyword)
        for item in extra:
            if item.chunk_id not in known:
                item.score *= share
                found.items.append(item)
        found.items.sort(key=lambda item: (-item.score, item.chunk_id))
        return [warning] if warning else []

    async def _hydrate(
        self, scope: Scope, questions: tuple[str, ...], items: Sequence[Fused], count: int
    ) -> tuple[list[SearchResult], list[Drop]]:
        """Give the first ``count`` items that may be returned their text; say why the others are not."""
        results: list[SearchResult] = []
        drops: list[Drop] = []
        position = 0
        async with self._database.read() as repos:
            read: Callable[[Scope, list[str]], Awaitable[dict[str, SearchResult]]] = repos.chunks.hydrate
            while len(results) < count and position < len(items):
                batch = items[position : position + count - len(results)]
                texts = await read(scope, [item.chunk_id for item in batch])
                for rank, item in enumerate(batch, start=position + 1):
                    text = texts.get(item.chunk_id)
                    if text is None:
                        drops.append(Drop(chunk_id=item.chunk_id, stage=STAGE, reason="not_in_database"))
                    elif text.chunk_type is ChunkType.FAQ and is_silenced(text.metadata, *questions):
                        drops.append(Drop(chunk_id=item.chunk_id, stage=STAGE, reason="negative_question"))
                    else:
                        results.append(_result(text, item, rank))
                position += len(batch)
        rest = items[position:]
        drops += [
            Drop(chunk_id=item.chunk_id, stage=STAGE, reason="over_match_count", detail=f"rank {rank}")
            for rank, item in enumerate(rest, start=position + 1)
        ]
        return results, drops


def _model_of(base: KnowledgeBase) -> tuple[str, str]:
    """What tells the embedding models of bases apart: a base's own one is its owner's, the other the installation's."""
    return (base.tenant_id, base.own_model_id) if base.own_model_id else ("", "")


def _fused(lists: list[ArmList], limits: Limits) -> _Round:
    """Thresholds and fusion of one round. Lists without scores have no threshold."""
    drops: list[Drop] = []
    sizes = [one.rows for one in lists if one.arm == VECTOR]
    if limits.threshold_before_fusion and limits.keyword_threshold > 0:
        lists = [_above(one, limits.keyword_threshold, drops) if one.arm == KEYWORD else one for one in lists]
    items = fuse(lists, weights=limits.weights, profile=limits.profile)
    if items and items[0].kind is ScoreKind.BM25 and limits.keyword_threshold > 0:
        drops += [_below(item.chunk_id, item.score) for item in items if item.score < limits.keyword_threshold]
        items = [item for item in items if item.score >= limits.keyword_threshold]
    kept = {item.chunk_id for item in items}
    return _Round(items=items, drops=[drop for drop in drops if drop.chunk_id not in kept], vector_sizes=sizes)


def _above(one: ArmList, threshold: float, drops: list[Drop]) -> ArmList:
    if not one.hits or one.hits[0].kind is ScoreKind.NONE:
        return one
    shares = by_own_best([hit.score for hit in one.hits])
    drops += [_below(hit.chunk_id, share) for hit, share in zip(one.hits, shares, strict=True) if share < threshold]
    return replace(one, hits=[hit for hit, share in zip(one.hits, shares, strict=True) if share >= threshold])


def _below(chunk_id: str, share: float) -> Drop:
    return Drop(chunk_id=chunk_id, stage=STAGE, reason="below_threshold", detail=f"keyword share {share:.3f}")


def _result(text: SearchResult, item: Fused, rank: int) -> SearchResult:
    scores, ranks = {"fused": item.score}, {"fused": rank}
    if item.vector_score is not None:
        scores[VECTOR], ranks[VECTOR] = item.vector_score, item.vector_rank
    if item.keyword_rank:
        ranks[KEYWORD] = item.keyword_rank
        if item.keyword_score is not None:
            scores[KEYWORD] = item.keyword_score
    match_type = MatchType.VECTOR if item.in_vector else MatchType.KEYWORD
    return replace(text, score=item.score, kind=item.kind, match_type=match_type, scores=scores, ranks=ranks)


def _missing_vectors(chosen: Plan, mode: SearchMode) -> list[str]:
    """Warnings about bases that are searched by words only."""
    if mode is SearchMode.FULLTEXT or not chosen.without_vectors:
        return []
    names = ", ".join(sorted(base.name for base in chosen.without_vectors))
    return [f"Searched by words only, for lack of the embedding model: {names}."]


def _own_floors(settings: Effective) -> RetrievalSettings:
    """The settings, with a floor that came from a model's card left to the card of each base's own model."""
    if settings.origin("vector_threshold") is Origin.MODEL:
        return replace(settings.values, vector_threshold=None)
    return settings.values


def _start_embedding(embedder: Embedder | None, query: str, mode: SearchMode) -> asyncio.Future[Vectors] | None:
    """The query's vector, on its way while words are searched; one for all groups."""
    if embedder is None or mode is SearchMode.FULLTEXT:
        return None
    return asyncio.ensure_future(question_vector(embedder, query))


def _settle_future(future: asyncio.Future[Vectors] | None) -> None:
    """Leave no task behind, and no exception that nobody looked at."""
    if future is None:
        return
    if not future.done():
        future.cancel()
    elif not future.cancelled():
        future.exception()
