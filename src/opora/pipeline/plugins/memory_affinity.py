"""``chunk_rerank``, innermost: documents that the caller's earlier answers cited settle near ties."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from opora.domain.errors import OporaError
from opora.domain.question import Draft
from opora.pipeline.events import EventType
from opora.pipeline.plugin import Next
from opora.pipeline.run import Run
from opora.pipeline.services import Services
from opora.rank.boosts import memory_affinity


class MemoryAffinity:
    """The first to act on the way back from the end of the chain: before the wiki boost."""

    name: ClassVar[str] = "memory_affinity"
    events: ClassVar[frozenset[EventType]] = frozenset({EventType.CHUNK_RERANK})

    def __init__(self, services: Services) -> None:
        self._database = services.database

    async def on_event(self, event: EventType, draft: Draft, run: Run, call_next: Next) -> Draft:
        draft = await call_next(draft)
        documents = {result.document_id for result in draft.ranked or () if result.document_id}
        if not draft.ranked or not documents:
            return draft
        try:
            async with self._database.read() as repositories:
                uses = await repositories.citations.uses(draft.question.scope, documents)
        except OporaError as error:
            warning = f"Earlier use of the documents was not considered: {error.message}"
            return replace(draft, warnings=(*draft.warnings, warning))
        return replace(draft, ranked=tuple(memory_affinity(draft.ranked, uses)))
