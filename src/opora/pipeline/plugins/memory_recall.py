"""``memory_recall``: what the person asked to be remembered, as far as it bears on the question."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import ClassVar

from opora.domain.errors import OporaError
from opora.domain.memory import MemoryItem
from opora.domain.question import Draft
from opora.domain.stream import ResponseType, StreamEvent
from opora.pipeline.events import EventType
from opora.pipeline.plugin import Next
from opora.pipeline.recall import recalled
from opora.pipeline.run import Run
from opora.pipeline.services import Services
from opora.prompt.memory import memory_prompt

_log = logging.getLogger(__name__)


class MemoryRecall:
    """Calls no model, and its failure costs a warning and no answer. Quotes have no use for it."""

    name: ClassVar[str] = "memory_recall"
    events: ClassVar[frozenset[EventType]] = frozenset({EventType.MEMORY_RECALL})

    def __init__(self, services: Services) -> None:
        self._database = services.database

    async def on_event(self, event: EventType, draft: Draft, run: Run, call_next: Next) -> Draft:
        question = draft.question
        if not question.has_chat_model:
            return await call_next(draft)
        try:
            items = await self._items(draft)
        except Exception as error:
            _log.warning("Memory could not be recalled", exc_info=error)
            reason = error.message if isinstance(error, OporaError) else "the log says why."
            warning = f"What is remembered could not be recalled: {reason}"
            return await call_next(replace(draft, warnings=(*draft.warnings, warning)))
        if not items:
            return await call_next(draft)
        data = {"items": [{"id": item.item_id, "content": item.content} for item in items]}
        await run.emit(StreamEvent(response_type=ResponseType.MEMORY_RECALLED, event_id="memory", done=True, data=data))
        return await call_next(replace(draft, memory_prompt=memory_prompt(items, question.language)))

    async def _items(self, draft: Draft) -> tuple[MemoryItem, ...]:
        scope = draft.question.scope
        async with self._database.read() as repositories:
            if not await repositories.memory.enabled(scope):
                return ()
            items = await repositories.memory.all(scope)
        return recalled(draft.question.text, items)
