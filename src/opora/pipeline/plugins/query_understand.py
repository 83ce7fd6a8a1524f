"""``query_understand``: what is really asked, and whether it needs a search."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from opora.domain.question import Draft
from opora.pipeline.events import EventType
from opora.pipeline.plugin import Next
from opora.pipeline.run import Run
from opora.pipeline.services import Services
from opora.pipeline.sight import unseen
from opora.prompt.build import rewrite_messages
from opora.understand.follow_up import leans_on_last
from opora.understand.understand import REWRITE_OPTIONS, REWRITE_WITH_IMAGES_OPTIONS, understand

NOT_READ = "Attachments were not read: without a chat model, answers are quotes from documents."
SEARCHED_QUOTE_CHARS = 500
"""How much of a quoted passage is searched for beside the question."""


class QueryUnderstand:
    name: ClassVar[str] = "query_understand"
    events: ClassVar[frozenset[EventType]] = frozenset({EventType.QUERY_UNDERSTAND})

    def __init__(self, services: Services) -> None:
        self._model = services.chat_model
        self._vision = services.vision_model

    async def on_event(self, event: EventType, draft: Draft, run: Run, call_next: Next) -> Draft:
        pictures = draft.question.pictures
        models = run.understand_models(self._model)
        seeing = run.seeing_models(self._model, self._vision) if pictures else ()
        if pictures and not seeing:
            draft = unseen(draft)
        first, second, *_ = (*(seeing or models), None, None)
        wanted = first is not None and (bool(seeing) or draft.question.settings.values.enable_rewrite)
        shown = pictures if seeing else ()
        messages = rewrite_messages(draft, pictures=shown, overrides=draft.question.prompts) if wanted else []
        options = REWRITE_WITH_IMAGES_OPTIONS if seeing else REWRITE_OPTIONS
        draft = await understand(draft, first, messages=messages, fallback=second, options=options)
        if first is None or not draft.rewritten_query:
            draft = _about_quoted(draft)
        if run.chat_model(self._model) is None and draft.question.beside.attachments:
            draft = replace(draft, warnings=(*draft.warnings, NOT_READ))
        return await call_next(draft)


def _about_quoted(draft: Draft) -> Draft:
    """A question that can't stand alone and came with a quoted passage leans on that, and is searched with it."""
    text, quoted = draft.question.text, draft.question.beside.quoted_context[:SEARCHED_QUOTE_CHARS]
    return replace(draft, rewritten_query=f"{quoted}\n{text}") if quoted and leans_on_last(text) else draft
