"""``chat_completion``: the answer as one piece, for callers that do not follow a stream."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from opora.domain.question import Draft
from opora.domain.stream import ResponseType, StreamEvent
from opora.pipeline.events import EventType
from opora.pipeline.generate import ANSWER_EVENT_ID
from opora.pipeline.plugin import Next
from opora.pipeline.plugins.chat_completion_stream import ChatCompletionStream
from opora.pipeline.run import Run, nowhere
from opora.pipeline.services import Services


class ChatCompletion:
    """Written like a streamed answer, decoded alike, and sent when it is whole."""

    name: ClassVar[str] = "chat_completion"
    events: ClassVar[frozenset[EventType]] = frozenset({EventType.CHAT_COMPLETION})

    def __init__(self, services: Services) -> None:
        self._stream = ChatCompletionStream(services)

    async def on_event(self, event: EventType, draft: Draft, run: Run, call_next: Next) -> Draft:
        # The list of pieces is the run's own: what is written quietly is kept there, also when the model breaks off.
        draft = await self._stream.answered(draft, replace(run, emit=nowhere))
        if run.answer:
            data = {"extractive": True} if draft.quotes else {}
            await run.emit(
                StreamEvent(
                    response_type=ResponseType.ANSWER, event_id=ANSWER_EVENT_ID, content=run.answer_text, data=data
                )
            )
        return await call_next(draft)
