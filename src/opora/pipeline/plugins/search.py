"""``chunk_search``: the knowledge bases and, where it is switched on, the web, both at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from opora.domain.errors import OporaError
from opora.domain.question import Draft
from opora.domain.search import SearchMode, SearchRequest, SearchResult
from opora.domain.trace import Stage
from opora.pipeline.events import EventType
from opora.pipeline.plugin import Next
from opora.pipeline.run import Run
from opora.pipeline.services import Services
from opora.retrieve.web import web_results


class Search:
    """A base that can't be searched fails the question; a web search that fails costs a warning."""

    name: ClassVar[str] = "search"
    events: ClassVar[frozenset[EventType]] = frozenset({EventType.CHUNK_SEARCH})

    def __init__(self, services: Services) -> None:
        self._search = services.search
        self._web = services.web

    async def on_event(self, event: EventType, draft: Draft, run: Run, call_next: Next) -> Draft:
        return await call_next(await self.found(draft))

    async def found(self, draft: Draft) -> Draft:
        """The draft with what was found, the bases' results before those of the web."""
        web = asyncio.ensure_future(self._in_web(draft))
        try:
            stage = await self._in_bases(draft)
            pages, warnings = await web
        finally:
            web.cancel()
        return replace(
            draft,
            found=(*stage.results, *pages),
            model_floor=stage.model_floor,
            drops=(*draft.drops, *stage.drops),
            warnings=(*draft.warnings, *stage.warnings, *warnings),
        )

    async def _in_bases(self, draft: Draft) -> Stage:
        question = draft.question
        if not question.scope.bases:
            return Stage()
        request = SearchRequest(
            query=draft.query,
            mode=SearchMode.HYBRID,
            match_count=question.settings.values.embedding_top_k,
            profile=question.settings.values.profile,
            asked=question.text,
        )
        return await self._search.search(question.scope, request, settings=question.settings)

    async def _in_web(self, draft: Draft) -> tuple[Sequence[SearchResult], tuple[str, ...]]:
        if self._web is None or not draft.question.settings.values.web_search_enabled:
            return (), ()
        try:
            return web_results(await self._web.search(draft.query)), ()
        except OporaError as error:
            return (), (f"The web was not searched: {error.message}",)
