"""``query_understand``, inside the rewriting: which entities the question speaks of, for the search in a graph."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from opora.domain.errors import OporaError
from opora.domain.question import Draft
from opora.pipeline.events import EventType
from opora.pipeline.plugin import Next
from opora.pipeline.run import Run
from opora.pipeline.services import Services
from opora.understand.intents import needs_kb_retrieval


class ExtractEntity:
    """Asks only where there is a graph, the intent needs the knowledge bases, and one in scope keeps a graph."""

    name: ClassVar[str] = "extract_entity"
    events: ClassVar[frozenset[EventType]] = frozenset({EventType.QUERY_UNDERSTAND})

    def __init__(self, services: Services) -> None:
        self._database = services.database
        self._extractor = services.extractor if services.graph is not None else None

    async def on_event(self, event: EventType, draft: Draft, run: Run, call_next: Next) -> Draft:
        if self._extractor is None or not needs_kb_retrieval(draft.intent) or not await self._has_graph(draft):
            return await call_next(draft)
        try:
            draft = replace(draft, entities=tuple(await self._extractor.extract(draft.query)))
        except OporaError as error:
            draft = replace(draft, warnings=(*draft.warnings, f"Entities were not looked for: {error.message}"))
        return await call_next(draft)

    async def _has_graph(self, draft: Draft) -> bool:
        owners: dict[str, list[str]] = {}
        for ref in draft.question.scope.bases:
            owners.setdefault(ref.tenant_id, []).append(ref.base_id)
        async with self._database.read() as stored:
            for tenant_id, base_ids in owners.items():
                if any(base.indexing.graph for base in await stored.bases.find(tenant_id, base_ids)):
                    return True
        return False
