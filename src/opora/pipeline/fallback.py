"""What is said when nothing was found: a fixed text, or the model's own words with the fallback prompt."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from opora.cite.registry import Registry
from opora.domain.conversation import Finish
from opora.domain.question import Draft
from opora.domain.settings import FallbackStrategy
from opora.pipeline.generate import ANSWER_EVENT_ID, generate
from opora.pipeline.options import chat_options
from opora.pipeline.run import Run
from opora.pipeline.services import Services
from opora.ports import ChatMessage
from opora.prompt.fixed import fixed_text


class Fallback:
    """Without a chat model the fixed text is the only one there is."""

    def __init__(self, services: Services) -> None:
        self._model = services.chat_model

    async def __call__(self, draft: Draft, run: Run) -> Draft:
        question = draft.question
        said = partial(fixed_text, language=question.language, overrides=question.prompts)
        settings = question.settings.values
        model = run.chat_model(self._model)
        if settings.fallback_strategy is FallbackStrategy.MODEL and model is not None:
            registry = Registry(citations_enabled=False)
            messages = [
                ChatMessage(role="system", content=said("fallback_prompt")),
                ChatMessage(
                    role="user", content=question.text, pictures=question.pictures if model.sees_images else ()
                ),
            ]
            options = chat_options(settings)
            generated = await generate(
                model,
                messages,
                options,
                decoder=registry.decoder(),
                thinking_decoder=registry.decoder(),
                run=run,
            )
            if generated.needs_hint:
                await run.say(
                    said("truncated_hint"),
                    event_id=ANSWER_EVENT_ID,
                )
            finish = generated.finish if generated.finish is Finish.TRUNCATED else Finish.NOTHING_FOUND
        else:
            text = settings.fallback_response or said("fallback_response")
            await run.say(text, event_id=ANSWER_EVENT_ID)
            finish = Finish.NOTHING_FOUND
        return replace(draft, answer=run.answer_text, finish=finish)
