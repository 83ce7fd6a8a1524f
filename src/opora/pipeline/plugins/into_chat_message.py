"""``into_chat_message``: the prompt, with as many whole passages as the token budget takes."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from opora.domain.question import Draft
from opora.pipeline.events import EventType
from opora.pipeline.plugin import Next
from opora.pipeline.run import Run
from opora.pipeline.services import Services
from opora.prompt.build import build


class IntoChatMessage:
    name: ClassVar[str] = "into_chat_message"
    events: ClassVar[frozenset[EventType]] = frozenset({EventType.INTO_CHAT_MESSAGE})

    def __init__(self, services: Services) -> None:
        self._model = services.chat_model

    async def on_event(self, event: EventType, draft: Draft, run: Run, call_next: Next) -> Draft:
        model = run.chat_model(self._model)
        # A model that sees is shown the pictures themselves.
        prompt = build(
            draft,
            describes_images=model is None or not model.sees_images,
            overrides=draft.question.prompts,
        )
        draft = replace(
            draft,
            context=prompt.context,
            user_content=prompt.user_content,
            system_prompt=prompt.system_prompt,
            drops=(*draft.drops, *prompt.drops),
        )
        return await call_next(draft)
