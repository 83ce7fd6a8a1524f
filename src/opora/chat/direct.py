"""Answers a question that belongs to no session: nothing is stored, and the answer ends with its reader."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opora.chat.choosing import Chooser, Named
from opora.chat.layers import NO_LAYERS, Layers
from opora.chat.orchestrator import Orchestrator
from opora.chat.pictures import with_images
from opora.domain.conversation import NOTHING_BESIDE, Finish, Round
from opora.domain.errors import Timeout
from opora.domain.pictures import Picture
from opora.domain.question import Draft, Question
from opora.domain.scope import Scope
from opora.domain.stream import StreamEvent
from opora.pipeline.run import Run, RunModels
from opora.ports import Clock, NewId
from opora.text.language import detect_language
from opora.text.query import clean_query
from opora.text.token_count import estimate_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How the answer ended, with an estimate of the tokens that it took."""

    finish: Finish
    is_extractive: bool
    prompt_tokens: int
    completion_tokens: int


class Direct:
    """The pipeline without sessions, for clients that send the whole conversation each time."""

    def __init__(
        self,
        *,
        orchestrator: Orchestrator,
        chooser: Chooser,
        clock: Clock,
        new_id: NewId,
        answer_seconds: float,
    ) -> None:
        self._orchestrator = orchestrator
        self._chooser = chooser
        self._clock = clock
        self._new_id = new_id
        self._answer_seconds = answer_seconds

    async def question(
        self,
        scope: Scope,
        query: str,
        *,
        history: Sequence[Round] = (),
        instructions: str = "",
        overrides: Mapping[str, Any] | None = None,
        pictures: Sequence[Picture] = (),
        model_id: str = "",
        layers: Layers = NO_LAYERS,
    ) -> tuple[Question, RunModels | None]:
        """The question and the models chosen for it, None for those of the installation. ``model_id`` is a chat model
        of the registry.

        Raises `InvalidInput` for a query that is empty or too long, or a setting that does not fit.
        """
        text = clean_query(query) if query.strip() or not pictures else ""
        equipped = await self._chooser.equip(scope, Named(chat=model_id), layers, overrides or {})
        question = Question(
            text=text,
            scope=scope,
            session_id="",
            request_id=self._new_id(),
            user_message_id="",
            assistant_message_id=self._new_id(),
            asked_at=self._clock(),
            settings=equipped.settings,
            prompts=layers.prompts,
            language=detect_language(text),
            has_chat_model=equipped.has_chat_model,
            history=tuple(history),
            instructions=instructions,
            beside=with_images(NOTHING_BESIDE, pictures),
            pictures=tuple(pictures),
        )
        return question, equipped.models

    async def answer(
        self, question: Question, models: RunModels | None = None
    ) -> AsyncGenerator[StreamEvent | Ended, None]:
        """The events of the run and how it ended. Whoever leaves ends the run; its failure is raised."""
        events: asyncio.Queue[StreamEvent | None] = asyncio.Queue()
        run = Run(emit=events.put, models=models)

        async def work() -> Draft:
            try:
                async with asyncio.timeout(self._answer_seconds):
                    return await self._orchestrator.answer(question, run)
            except TimeoutError as exc:
                raise Timeout("The answer took too long and was cut short.") from exc
            finally:
                events.put_nowait(None)

        running = asyncio.create_task(work(), name=question.assistant_message_id)
        try:
            while (event := await events.get()) is not None:
                yield event
            yield _ended(await running, run)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


def _ended(draft: Draft, run: Run) -> Ended:
    asked = [draft.system_prompt, draft.user_content or draft.question.text]
    asked += [text for round_ in draft.history for text in (round_.question, round_.answer)]
    return Ended(
        finish=draft.finish or Finish.COMPLETE,
        is_extractive=bool(draft.quotes),
        prompt_tokens=sum(map(estimate_tokens, asked)),
        completion_tokens=estimate_tokens(run.answer_text),
    )
