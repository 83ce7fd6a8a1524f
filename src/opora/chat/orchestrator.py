"""Runs the events of one question in order, with progress, references, cancellation and the fallback around them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from time import perf_counter

from opora.domain.conversation import Finish
from opora.domain.question import Draft, Question
from opora.domain.search import SearchResult
from opora.domain.stream import ResponseType, StreamEvent
from opora.pipeline.builder import for_question
from opora.pipeline.events import EventType
from opora.pipeline.manager import EventManager
from opora.pipeline.progress import ProgressWindows
from opora.pipeline.run import Run

_log = logging.getLogger(__name__)

GENERATION = frozenset({EventType.CHAT_COMPLETION, EventType.CHAT_COMPLETION_STREAM})

Fallback = Callable[[Draft, Run], Awaitable[Draft]]
"""Answers a question for which nothing was found."""


class Orchestrator:
    """Triggers events one after the other. Nothing flows back."""

    def __init__(self, manager: EventManager, *, fallback: Fallback) -> None:
        self._manager = manager
        self._fallback = fallback

    async def answer(self, question: Question, run: Run, events: Sequence[EventType] | None = None) -> Draft:
        """The finished draft, by ``events`` where a caller names them (`PRESETS`), else by those of its question.

        Raises `asyncio.CancelledError` when the run was stopped, an `OporaError` when it failed.

        Whether the run was stopped is looked at before 'nothing found', so that a stop never writes a fallback.
        """
        draft = Draft(question=question, warnings=question.warnings)
        run.draft = draft
        windows = ProgressWindows(run)
        succeeded = False
        try:
            for event in events or for_question(question):
                if event in GENERATION:
                    await windows.close(draft)
                    await send_references(draft, run)
                else:
                    await windows.enter(event, draft)
                draft = await self._step(event, draft, run)
                if draft.nothing_found:
                    await windows.close(draft)
                    draft = await self._nothing_found(draft, run)
                    break
            succeeded = True
        finally:
            await windows.close(run.draft, success=succeeded)
        return draft

    async def _step(self, event: EventType, draft: Draft, run: Run) -> Draft:
        started = perf_counter()
        draft = await self._manager.trigger(event, draft, run)
        run.times.append((event.value, (perf_counter() - started) * 1000))
        run.draft = draft
        if run.stop_requested:
            raise asyncio.CancelledError
        return draft

    async def _nothing_found(self, draft: Draft, run: Run) -> Draft:
        await send_references(draft, run)
        draft = await self._fallback(draft, run)
        run.draft = draft = replace(draft, finish=draft.finish or Finish.NOTHING_FOUND)
        return draft


def references_of(draft: Draft) -> tuple[SearchResult, ...]:
    """Everything merged; what the token budget cut from the prompt carries ``metadata['in_context']`` false."""
    if draft.nothing_found:
        return ()
    inside = {result.chunk_id for result in draft.context}
    return tuple(
        replace(result, metadata={**result.metadata, "in_context": result.chunk_id in inside})
        for result in draft.passages
    )


async def send_references(draft: Draft, run: Run) -> None:
    """Send the list of sources once, before the first word of the answer, also when it is empty."""
    if run.references is not None or not (draft.question.scope.bases or draft.passages):
        return
    run.references = references_of(draft)
    await run.emit(
        StreamEvent(response_type=ResponseType.REFERENCES, event_id="references", references=run.references, done=True)
    )
