"""What belongs to one run and must survive its failure: the bus, the deadline, the answer so far, the times."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from opora.domain.question import Draft
from opora.domain.search import SearchResult
from opora.domain.stream import ResponseType, StreamEvent
from opora.ports import ChatModel, Reranker

Emit = Callable[[StreamEvent], Awaitable[None]]


async def nowhere(event: StreamEvent) -> None:
    """Sends nothing to anybody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunModels:
    """Models chosen for one question. Without a chat model the answer is quotes."""

    chat: ChatModel | None
    understand: ChatModel | None = None
    """A smaller one that rewrites questions; the chat model steps in where it fails, or where there is none."""
    vision: ChatModel | None = None
    """One that looks at pictures where the chat model can't."""
    reranker: Reranker | None = None
    """None is that of the installation."""


@dataclass(slots=True, kw_only=True)
class Run:
    """One question's own event bus and what is kept when the run is cut short. (Elsewhere: PipelineContext.)

    The only mutable object of the pipeline: plugins emit through it and note the answer as it grows.
    """

    emit: Emit = nowhere
    models: RunModels | None = None
    """The models of this one question; None: those of the installation."""
    stop_requested: bool = False
    draft: Draft | None = None
    """The draft after the last event that ended; what the trace of a failed run is made from."""
    answer: list[str] = field(default_factory=list)
    """Pieces of the answer that were sent, decoded."""
    references: tuple[SearchResult, ...] | None = None
    """The sources that were sent; None before they were."""
    times: list[tuple[str, float]] = field(default_factory=list)
    """Milliseconds by event, in the order of the events."""

    def chat_model(self, default: ChatModel | None) -> ChatModel | None:
        """Who writes the answer."""
        return self.models.chat if self.models else default

    def reranker(self, default: Reranker | None) -> Reranker | None:
        """Who judges what was found."""
        return (self.models.reranker if self.models else None) or default

    def understand_models(self, default: ChatModel | None) -> tuple[ChatModel, ...]:
        """Who rewrites the question, and who does it next where that one fails."""
        chat, small = self.chat_model(default), self.models.understand if self.models else None
        return tuple(model for model in (small, None if chat is small else chat) if model is not None)

    def seeing_models(self, default: ChatModel | None, vision: ChatModel | None) -> tuple[ChatModel, ...]:
        """Who looks at the pictures of the question: those that rewrite it and see, then the one for pictures."""
        vision = (self.models.vision if self.models else None) or vision
        models = (*self.understand_models(default), *([vision] if vision else []))
        return tuple(model for model in models if model.sees_images)

    @property
    def answer_text(self) -> str:
        return "".join(self.answer)

    async def say(self, text: str, *, event_id: str, extractive: bool = False) -> None:
        """Send a piece of the answer and remember it; nothing is sent for empty text."""
        if not text:
            return
        self.answer.append(text)
        data = {"extractive": True} if extractive else {}
        await self.emit(StreamEvent(response_type=ResponseType.ANSWER, event_id=event_id, content=text, data=data))
