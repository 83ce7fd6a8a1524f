"""``load_history``: the last rounds of the session, or of those that came with the question."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from opora.domain.question import Draft
from opora.pipeline.events import EventType
from opora.pipeline.history import recent_limit, rounds
from opora.pipeline.plugin import Next
from opora.pipeline.run import Run
from opora.pipeline.services import Services


class LoadHistory:
    name: ClassVar[str] = "load_history"
    events: ClassVar[frozenset[EventType]] = frozenset({EventType.LOAD_HISTORY})

    def __init__(self, services: Services) -> None:
        self._database = services.database

    async def on_event(self, event: EventType, draft: Draft, run: Run, call_next: Next) -> Draft:
        question = draft.question
        max_rounds = question.settings.values.max_rounds
        if max_rounds <= 0:
            return await call_next(draft)
        if question.history is not None:
            return await call_next(replace(draft, history=question.history[-max_rounds:]))
        async with self._database.read() as repositories:
            messages = await repositories.messages.recent(
                question.scope, question.session_id, limit=recent_limit(max_rounds)
            )
        history = rounds(messages, max_rounds=max_rounds, without=question.request_id)
        return await call_next(replace(draft, history=history))
