"""Runs the vector and the keyword arm of every group at once and returns their lists by slot."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Protocol

from opora.domain.knowledge import KnowledgeBase
from opora.domain.scope import Scope
from opora.domain.search import EngineHit
from opora.ports import SearchEngine, Vectors
from opora.retrieve.fanout import MAX_GROUPS_AT_ONCE, all_or_nothing, within
from opora.retrieve.fuse import KEYWORD, VECTOR, ArmList
from opora.retrieve.owners import Living, to_owners
from opora.retrieve.scales import is_mixed, normalised
from opora.retrieve.targets import Group


class EngineDirectory(Protocol):
    """Knows which engine holds a base."""

    def engine_for(self, base: KnowledgeBase) -> SearchEngine: ...


WordSearch = Callable[..., Awaitable[list[EngineHit]]]
"""Called like `SearchEngine.search_keyword`."""


def by_keywords(engine: SearchEngine) -> WordSearch:
    return engine.search_keyword


class Arms:
    """The arms of one question: its groups, its words, and its vector, which may still be on its way."""

    def __init__(
        self,
        scope: Scope,
        groups: Sequence[Group],
        *,
        engines: EngineDirectory,
        query: str,
        vector: asyncio.Future[Vectors] | None,
        seconds: float,
        living: Living,
        by_words: Callable[[SearchEngine], WordSearch] = by_keywords,
    ) -> None:
        self._scope = scope
        self._groups = [(group, engines.engine_for(group.bases[0])) for group in groups]
        self._query = query
        self._vector = vector
        self._seconds = seconds
        self._living = living
        self._by_words = by_words
        self._mixed = is_mixed([engine.name for _, engine in self._groups])

    async def search(self, top_k: int, threshold: float) -> list[ArmList]:
        """Lists of all groups in the order of the groups, vector before keyword. One failure fails all."""
        calls = [partial(self._group, group, engine, top_k, threshold) for group, engine in self._groups]
        found = await all_or_nothing(calls, at_once=MAX_GROUPS_AT_ONCE)
        return [one for lists in found for one in lists]

    async def keyword(self, query: str, top_k: int) -> list[ArmList]:
        """The keyword lists alone, for another wording of the question."""
        calls = [
            partial(self._keyword, group, engine, query, top_k) for group, engine in self._groups if group.keyword_ids
        ]
        return await all_or_nothing(calls, at_once=MAX_GROUPS_AT_ONCE) if calls else []

    async def _group(self, group: Group, engine: SearchEngine, top_k: int, threshold: float) -> list[ArmList]:
        calls = []
        if group.vector_ids and self._vector is not None:
            calls.append(partial(self._nearest, group, engine, self._vector, top_k, threshold))
        if group.keyword_ids:
            calls.append(partial(self._keyword, group, engine, self._query, top_k))
        return await all_or_nothing(calls) if calls else []

    async def _nearest(
        self, group: Group, engine: SearchEngine, vector: asyncio.Future[Vectors], top_k: int, threshold: float
    ) -> ArmList:
        query = await vector
        scope = self._scope.narrowed(base_ids=group.vector_ids)
        call = engine.search_vector(scope, query, top_k=top_k, threshold=threshold)
        return await self._list(VECTOR, await within(self._seconds, call, what=f"Vector search ({engine.name})"))

    async def _keyword(self, group: Group, engine: SearchEngine, query: str, top_k: int) -> ArmList:
        scope = self._scope.narrowed(base_ids=group.keyword_ids)
        call = self._by_words(engine)(scope, query, top_k=top_k)
        return await self._list(KEYWORD, await within(self._seconds, call, what=f"Keyword search ({engine.name})"))

    async def _list(self, arm: str, hits: Sequence[EngineHit]) -> ArmList:
        owned = await to_owners(normalised(hits, mixed=self._mixed), self._living)
        return ArmList(arm=arm, hits=owned, rows=len(hits))
