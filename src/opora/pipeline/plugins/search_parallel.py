"""``chunk_search_parallel``: every way of finding at once, and the gate that may say that nothing was found."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from opora.domain.question import Draft
from opora.domain.search import SearchMode, SearchRequest
from opora.domain.trace import Drop
from opora.pipeline.events import EventType
from opora.pipeline.plugin import Next
from opora.pipeline.run import Run
from opora.pipeline.services import Services
from opora.retrieve.gate import nothing_found
from opora.understand.intents import needs_retrieval


class SearchParallel:
    name: ClassVar[str] = "search_parallel"
    events: ClassVar[frozenset[EventType]] = frozenset({EventType.CHUNK_SEARCH_PARALLEL})

    def __init__(self, services: Services) -> None:
        self._search = services.search
        self._gate = services.gate

    async def on_event(self, event: EventType, draft: Draft, run: Run, call_next: Next) -> Draft:
        settings = draft.question.settings
        if not needs_retrieval(draft.intent, web_search_enabled=settings.values.web_search_enabled):
            return await call_next(draft)
        request = SearchRequest(
            query=draft.query,
            mode=SearchMode.HYBRID,
            match_count=settings.values.embedding_top_k,
            profile=settings.values.profile,
            asked=draft.question.text,
        )
        stage = await self._search.search(draft.question.scope, request, settings=settings)
        values = settings.values
        point = replace(self._gate, confidence=values.answer_confidence, cosine=values.answer_floor)
        verdict = nothing_found(draft.query, stage.results, point)
        drops = stage.drops
        if verdict.nothing_found:
            drops += tuple(
                Drop(chunk_id=result.chunk_id, stage="gate", reason="below_floor", detail=verdict.reason)
                for result in stage.results
            )
        draft = replace(
            draft,
            found=stage.results,
            drops=(*draft.drops, *drops),
            warnings=(*draft.warnings, *stage.warnings),
            nothing_found=verdict.nothing_found,
        )
        return await call_next(draft)
