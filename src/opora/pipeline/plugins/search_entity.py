"""``entity_search``: chunks that a graph of entities points to, as far as they may still be shown."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from opora.domain.question import Draft
from opora.domain.search import MatchType, SearchResult
from opora.pipeline.events import EventType
from opora.pipeline.plugin import Next
from opora.pipeline.run import Run
from opora.pipeline.services import Services

MAX_ENTITY_CHUNKS = 30


class SearchEntity:
    """Skipped for a question without entities, and where there is no graph."""

    name: ClassVar[str] = "search_entity"
    events: ClassVar[frozenset[EventType]] = frozenset({EventType.ENTITY_SEARCH})

    def __init__(self, services: Services) -> None:
        self._database = services.database
        self._graph = services.graph

    async def on_event(self, event: EventType, draft: Draft, run: Run, call_next: Next) -> Draft:
        return await call_next(replace(draft, found=(*draft.found, *await self.found(draft))))

    async def found(self, draft: Draft) -> tuple[SearchResult, ...]:
        """At most `MAX_ENTITY_CHUNKS` results without a score, nearest first: the reranker's becomes theirs.

        The database decides what of the graph's ids is shown: in scope, switched on, of a document that is there."""
        if self._graph is None or not draft.entities:
            return ()
        ids = list(dict.fromkeys(await self._graph.chunk_ids(draft.question.scope, draft.entities)))
        async with self._database.read() as stored:
            texts = await stored.chunks.hydrate(draft.question.scope, ids)
        shown = [texts[chunk_id] for chunk_id in ids if chunk_id in texts][:MAX_ENTITY_CHUNKS]
        return tuple(replace(result, match_type=MatchType.GRAPH, score=0.0) for result in shown)
