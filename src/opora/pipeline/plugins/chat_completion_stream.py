"""``chat_completion_stream``: the answer, written by a model or made of quotes, sent piece by piece."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from opora.cite.decoder import without_marks
from opora.cite.registry import Registry
from opora.domain.conversation import Finish
from opora.domain.errors import ModelNotConfigured
from opora.domain.knowledge import ChunkType
from opora.domain.pictures import Picture
from opora.domain.question import Draft
from opora.domain.trace import Drop
from opora.pipeline.events import EventType
from opora.pipeline.generate import ANSWER_EVENT_ID, generate
from opora.pipeline.options import chat_options
from opora.pipeline.plugin import Next
from opora.pipeline.quotes import exact_answer, quoted_pieces
from opora.pipeline.run import Run
from opora.pipeline.services import Services
from opora.pipeline.sight import unseen
from opora.ports import ChatMessage, ChatModel
from opora.prompt.beside import MAX_REPLAYED_CHARS, with_beside
from opora.prompt.fixed import fixed_text

WRITTEN = frozenset({ChunkType.SUMMARY, ChunkType.TABLE_SUMMARY})


class ChatCompletionStream:
    name: ClassVar[str] = "chat_completion_stream"
    events: ClassVar[frozenset[EventType]] = frozenset({EventType.CHAT_COMPLETION_STREAM})

    def __init__(self, services: Services) -> None:
        self._model = services.chat_model
        self._quoter = services.quoter

    async def on_event(self, event: EventType, draft: Draft, run: Run, call_next: Next) -> Draft:
        return await call_next(await self.answered(draft, run))

    async def answered(self, draft: Draft, run: Run) -> Draft:
        """The draft with its answer, sent through ``run`` as it grows."""
        model = run.chat_model(self._model)
        if model is not None:
            return await self._written(model, draft, run)
        if not draft.question.scope.bases:
            raise ModelNotConfigured(
                "There is nothing to quote from: no knowledge base is in scope, and no chat model is set.",
                hint="Load documents (opora ingest FOLDER), or set OPORA_CHAT_URL and OPORA_CHAT_MODEL to chat freely.",
            )
        return await self._quoted(draft, run)

    async def _written(self, model: ChatModel, draft: Draft, run: Run) -> Draft:
        settings = draft.question.settings.values
        if draft.question.pictures and not (model.sees_images or draft.image_description):
            draft = unseen(draft)
        registry = Registry(citations_enabled=settings.citation_enabled)
        registry.register_results(draft.context)
        generated = await generate(
            model,
            messages_of(draft, registry, pictures=draft.question.pictures if model.sees_images else ()),
            chat_options(settings),
            decoder=registry.decoder(),
            thinking_decoder=registry.decoder(),
            run=run,
        )
        if generated.needs_hint:
            await run.say(_hint(draft), event_id=ANSWER_EVENT_ID)
        return replace(draft, answer=run.answer_text, finish=generated.finish)

    async def _quoted(self, draft: Draft, run: Run) -> Draft:
        # What a model wrote about a document is no word of the document.
        passages = [one for one in draft.context or draft.passages if one.chunk_type not in WRITTEN]
        exact = exact_answer(passages, draft.question.settings.values)
        quotes = [exact] if exact is not None else await self._quoter.quotes(draft.query, passages)
        if not quotes:
            unanswered = tuple(
                Drop(chunk_id=passage.chunk_id, stage="quotes", reason="below_floor", detail="no sentence answers")
                for passage in draft.context
            )
            return replace(draft, nothing_found=True, drops=(*draft.drops, *unanswered))
        registry = Registry(citations_enabled=draft.question.settings.values.citation_enabled)
        for piece in quoted_pieces(quotes, draft.passages, registry):
            await run.say(piece, event_id=ANSWER_EVENT_ID, extractive=True)
        return replace(draft, quotes=tuple(quotes), answer=run.answer_text, finish=Finish.COMPLETE)


def _hint(draft: Draft) -> str:
    return fixed_text("truncated_hint", draft.question.language, overrides=draft.question.prompts)


def messages_of(draft: Draft, registry: Registry, *, pictures: Sequence[Picture] = ()) -> list[ChatMessage]:
    """System prompt with the caller's wishes and the citation protocol, the rounds before, the question with its
    context."""
    question = draft.question
    # Plain chat goes without `into_chat_message`, which puts what is remembered into the system prompt.
    grounds = draft.system_prompt or draft.memory_prompt
    parts = (grounds, question.instructions, registry.protocol_prompt(question.language))
    system = "\n\n".join(part for part in parts if part)
    messages = [ChatMessage(role="system", content=system)]
    for round_ in draft.history:
        asked = with_beside(round_.question, round_.beside, question.language, limit=MAX_REPLAYED_CHARS)
        messages.append(ChatMessage(role="user", content=asked))
        messages.append(ChatMessage(role="assistant", content=without_marks(round_.answer)))
    asked = draft.user_content or with_beside(question.text, question.beside, question.language)
    messages.append(ChatMessage(role="user", content=asked, pictures=tuple(pictures)))
    return registry.encoded(messages)
