"""``query_understand``: what is really asked, and whether it needs a search."""

from __future__ import annotations

from typing import ClassVar

from opora.domain.question import Draft
from opora.pipeline.events import EventType
from opora.pipeline.plugin import Next
from opora.pipeline.run import Run
from opora.pipeline.services import Services
from opora.prompt.build import rewrite_messages
from opora.understand.understand import understand


class QueryUnderstand:
    name: ClassVar[str] = "query_understand"
    events: ClassVar[frozenset[EventType]] = frozenset({EventType.QUERY_UNDERSTAND})

    def __init__(self, services: Services) -> None:
        self._model = services.chat_model

    async def on_event(self, event: EventType, draft: Draft, run: Run, call_next: Next) -> Draft:
        wanted = self._model is not None and draft.question.settings.values.enable_rewrite
        messages = rewrite_messages(draft) if wanted else []
        return await call_next(await understand(draft, self._model, messages=messages))
