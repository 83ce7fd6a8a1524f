"""What belongs to one run and must survive its failure: the bus, the deadline, the answer so far, the times."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from opora.domain.question import Draft
from opora.domain.search import SearchResult
from opora.domain.stream import ResponseType, StreamEvent

Emit = Callable[[StreamEvent], Awaitable[None]]


async def _nowhere(event: StreamEvent) -> None:
    return None


@dataclass(slots=True, kw_only=True)
class Run:
    """One question's own event bus and what is kept when the run is cut short. (Elsewhere: PipelineContext.)

    The only mutable object of the pipeline: plugins emit through it and note the answer as it grows.
    """

    emit: Emit = _nowhere
    stop_requested: bool = False
    draft: Draft | None = None
    """The draft after the last event that ended; what the trace of a failed run is made from."""
    answer: list[str] = field(default_factory=list)
    """Pieces of the answer that were sent, decoded."""
    references: tuple[SearchResult, ...] | None = None
    """The sources that were sent; None before they were."""
    times: list[tuple[str, float]] = field(default_factory=list)
    """Milliseconds by event, in the order of the events."""

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
