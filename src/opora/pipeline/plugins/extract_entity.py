"""``query_understand``, inside the rewriting: which entities the question speaks of, for the search in a graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from opora.domain.errors import OporaError
from opora.domain.question import Draft
from opora.pipeline.events import EventType
from opora.pipeline.plugin import Next
from opora.pipeline.run import Run
from opora.pipeline.services import Services
from opora.ports import ChatModel
from opora.prompt.build import entity_messages
from opora.understand.entities import named_entities
from opora.understand.intents import needs_kb_retrieval


class ExtractEntity:
    """Asks only where there is a graph, the intent needs the knowledge bases, and one in scope keeps a graph."""

    name: ClassVar[str] = "extract_entity"
    events: ClassVar[frozenset[EventType]] = frozenset({EventType.QUERY_UNDERSTAND})

    def __init__(self, services: Services) -> None:
        self._database = services.database
        self._model = services.chat_model
        self._has_one = services.graph is not None

    async def on_event(self, event: EventType, draft: Draft, run: Run, call_next: Next) -> Draft:
        models = run.understand_models(self._model) if self._has_one else ()
        if models and draft.query and needs_kb_retrieval(draft.intent) and await self._has_graph(draft):
            draft = await self._named(draft, models)
        return await call_next(draft)

    async def _named(self, draft: Draft, models: Sequence[ChatModel]) -> Draft:
        """Asked of the model that rewrites questions, and of the next one where it fails."""
        messages = entity_messages(draft, overrides=draft.question.prompts)
        failure: OporaError | None = None
        for model in models:
            try:
                return replace(draft, entities=await named_entities(messages, model))
            except OporaError as error:
                failure = error
        assert failure is not None
        return replace(draft, warnings=(*draft.warnings, f"Entities were not looked for: {failure.message}"))

    async def _has_graph(self, draft: Draft) -> bool:
        owners: dict[str, list[str]] = {}
        for ref in draft.question.scope.bases:
            owners.setdefault(ref.tenant_id, []).append(ref.base_id)
        async with self._database.read() as stored:
            for tenant_id, base_ids in owners.items():
                if any(base.indexing.graph for base in await stored.bases.find(tenant_id, base_ids)):
                    return True
        return False
