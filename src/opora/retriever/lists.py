"""The two lists of candidates: by meaning, for which the question's vector is asked for, and by words."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

from opora.domain.errors import ModelNotConfigured
from opora.domain.knowledge import KnowledgeBase
from opora.domain.scope import Scope
from opora.domain.search import Capability, EngineHit, ScoreKind, SearchMode
from opora.ports import Database, FulltextEngine, QuestionVector, SearchEngine, Vectoriser, Vectors
from opora.retrieve.arms import Arms, EngineDirectory, WordSearch
from opora.retrieve.fanout import all_or_nothing
from opora.retrieve.fuse import ArmList
from opora.retrieve.targets import Group, has_vectors, plan

SPARE = 2
MIN_DEPTH = 50
"""More rows are asked for than are wanted: several may lead to one piece, and one may be on its way out."""
NO_THRESHOLD = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Hits of one way of searching, best first, each piece once."""

    hits: tuple[EngineHit, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def ids(self) -> list[str]:
        return [hit.chunk_id for hit in self.hits]


def own_fulltext(engine: SearchEngine) -> WordSearch:
    """The engine's full text search where it has one, else its search by keywords."""
    if Capability.FULLTEXT in engine.capabilities:
        return cast(FulltextEngine, engine).search_fulltext
    return engine.search_keyword


class Lists:
    """Searches the bases of one scope in one way."""

    def __init__(self, *, database: Database, engines: EngineDirectory, vectoriser: Vectoriser, seconds: float) -> None:
        self._database = database
        self._engines = engines
        self._vectoriser = vectoriser
        self._seconds = seconds

    async def semantic(
        self, scope: Scope, bases: Sequence[KnowledgeBase], question: str, count: int, *, is_only: bool = True
    ) -> Candidates:
        """The ``count`` pieces nearest to the question.

        Raises `ModelNotConfigured` where no vector of the question fits the bases, and, if this is the only list,
        where they hold no vectors at all.
        """
        embedded = [base for base in bases if has_vectors(base)]
        if not embedded and not is_only:
            return Candidates(warnings=("These knowledge bases hold no vectors: they were searched by words only.",))
        spaces = await self._spaces(embedded, question)
        calls, searched = [], set()
        for made, members in spaces:
            chosen = plan(members, SearchMode.SEMANTIC, made.identity)
            if chosen.needs_vector:
                inside = scope.narrowed(base_ids=tuple(base.base_id for base in members))
                arms = self._arms(inside, chosen.groups, question, made.vector)
                calls.append(partial(arms.search, _depth(count), NO_THRESHOLD))
                searched |= {one for group in chosen.groups for one in group.vector_ids}
        if not calls:
            raise ModelNotConfigured(
                "These knowledge bases can't be searched by meaning: there is no embedding model for their vectors.",
                hint="Set the embedding model that they were embedded by (OPORA_EMBEDDING), or search by words.",
            )
        lists = [one for found in await all_or_nothing(calls) for one in found]
        missing = sorted(base.name for base in bases if base.base_id not in searched)
        warning = f"Not searched by meaning, for lack of vectors or of their model: {', '.join(missing)}."
        return Candidates(hits=_merged(lists, count), warnings=(warning,) if missing else ())

    async def fulltext(self, scope: Scope, bases: Sequence[KnowledgeBase], question: str, count: int) -> Candidates:
        """The ``count`` pieces that say most of the question's words."""
        chosen = plan(bases, SearchMode.FULLTEXT, None)
        lists = await self._arms(scope, chosen.groups, question, None).search(_depth(count), NO_THRESHOLD)
        missing = sorted(base.name for base in bases if not base.indexing.keyword)
        warning = f"Not searched by words, which they do not index: {', '.join(missing)}."
        return Candidates(hits=_merged(lists, count), warnings=(warning,) if missing else ())

    async def _spaces(
        self, bases: Sequence[KnowledgeBase], question: str
    ) -> list[tuple[QuestionVector, list[KnowledgeBase]]]:
        """One vector of the question for each model, and the bases that are embedded by it."""
        by_model: dict[tuple[str, str], list[KnowledgeBase]] = {}
        for base in bases:
            model = (base.tenant_id, base.own_model_id) if base.own_model_id else ("", "")
            by_model.setdefault(model, []).append(base)
        calls = [partial(self._vectoriser.vectorise, question, members[0]) for members in by_model.values()]
        if not calls:
            return []
        made = await all_or_nothing(calls)
        return list(zip(made, by_model.values(), strict=True))

    def _arms(self, scope: Scope, groups: Sequence[Group], question: str, vector: Vectors | None) -> Arms:
        ready: asyncio.Future[Vectors] | None = None
        if vector is not None:
            ready = asyncio.get_running_loop().create_future()
            ready.set_result(vector)
        return Arms(
            scope,
            groups,
            engines=self._engines,
            query=question,
            vector=ready,
            seconds=self._seconds,
            living=partial(self._living, scope),
            by_words=own_fulltext,
        )

    async def _living(self, scope: Scope, chunk_ids: Collection[str]) -> set[str]:
        async with self._database.read() as repos:
            return await repos.chunks.present(scope, chunk_ids)


def _depth(count: int) -> int:
    return max(SPARE * count, MIN_DEPTH)


def _merged(lists: Sequence[ArmList], count: int) -> tuple[EngineHit, ...]:
    """The lists of all stores as one: by score, or by place where scores are missing or of several kinds; equal ones by
    id."""
    kinds = {hit.kind for one in lists for hit in one.hits}
    by_score = len(kinds) == 1 and ScoreKind.NONE not in kinds
    best: dict[str, tuple[float, EngineHit]] = {}
    for one in lists:
        for rank, hit in enumerate(one.hits, start=1):
            key = -hit.score if by_score else float(rank)
            if hit.chunk_id not in best or key < best[hit.chunk_id][0]:
                best[hit.chunk_id] = (key, hit)
    ordered = sorted(best.values(), key=lambda pair: (pair[0], pair[1].chunk_id))
    return tuple(hit for _, hit in ordered[:count])
