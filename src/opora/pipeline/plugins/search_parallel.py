"""``chunk_search_parallel``: every way of finding at once, and the gate that may say that nothing was found."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import ClassVar

from opora.domain.errors import OporaError
from opora.domain.question import Draft
from opora.domain.search import MatchType, SearchResult
from opora.domain.trace import Drop
from opora.pipeline.events import EventType
from opora.pipeline.plugin import Next
from opora.pipeline.plugins.search import Search
from opora.pipeline.plugins.search_entity import SearchEntity
from opora.pipeline.run import Run
from opora.pipeline.services import Services
from opora.retrieve.gate import nothing_found
from opora.retrieve.union import united
from opora.understand.intents import needs_retrieval


class SearchParallel:
    """Passages and entities are searched side by side. Nothing is found only when neither finds anything."""

    name: ClassVar[str] = "search_parallel"
    events: ClassVar[frozenset[EventType]] = frozenset({EventType.CHUNK_SEARCH_PARALLEL})

    def __init__(self, services: Services) -> None:
        self._search = Search(services)
        self._entities = SearchEntity(services)
        self._gate = services.gate

    async def on_event(self, event: EventType, draft: Draft, run: Run, call_next: Next) -> Draft:
        values = draft.question.settings.values
        if not needs_retrieval(draft.intent, web_search_enabled=values.web_search_enabled):
            return await call_next(draft)
        draft = await self._found(draft)
        point = replace(self._gate, confidence=values.answer_confidence, cosine=values.answer_floor)
        if draft.model_floor is not None:
            point = replace(point, model_floor=draft.model_floor)
        passages = [result for result in draft.found if result.match_type not in (MatchType.GRAPH, MatchType.WEB)]
        verdict = nothing_found(draft.query, passages, point)
        # What the graph or the web found has no retrieval score to be judged by: the reranker looks at it.
        if verdict.nothing_found and len(passages) == len(draft.found):
            drops = tuple(
                Drop(chunk_id=result.chunk_id, stage="gate", reason="below_floor", detail=verdict.reason)
                for result in passages
            )
            draft = replace(draft, drops=(*draft.drops, *drops), nothing_found=True)
        return await call_next(draft)

    async def _found(self, draft: Draft) -> Draft:
        entities = asyncio.ensure_future(self._by_entity(draft))
        try:
            draft = await self._search.found(draft)
            related, warnings = await entities
        finally:
            entities.cancel()
        if not related:
            return replace(draft, warnings=(*draft.warnings, *warnings))
        found, drops = united(draft.found, related)
        return replace(draft, found=tuple(found), drops=(*draft.drops, *drops), warnings=(*draft.warnings, *warnings))

    async def _by_entity(self, draft: Draft) -> tuple[tuple[SearchResult, ...], tuple[str, ...]]:
        try:
            return await self._entities.found(draft), ()
        except OporaError as error:
            return (), (f"The graph was not searched: {error.message}",)
