"""Streams a model's reply through the citation decoder into the log, and decides how the answer ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from opora.domain.conversation import Finish
from opora.domain.errors import ModelError
from opora.domain.stream import ResponseType, StreamEvent
from opora.pipeline.run import Run
from opora.ports import ChatMessage, ChatModel, ChatOptions

ANSWER_EVENT_ID = "answer"
THINKING_EVENT_ID = "thinking"
TRUNCATED_REASONS = frozenset({"length", "max_tokens", "max_output_tokens"})
COMPLETE_REASONS = frozenset({"stop", "end_turn", "stop_sequence", "eos", "complete"})


class Decoder(Protocol):
    """Turns aliases of sources into public tags, whatever way the stream was cut."""

    def feed(self, text: str) -> str: ...
    def flush(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """How a generation ended; ``needs_hint`` when the limit was reached before a single character."""

    finish: Finish
    needs_hint: bool = False


def ending(reason: str, *, has_text: bool) -> Generated:
    """What a provider's finish reason means; raises `ModelError` where there is no answer to show.

    Reasons are compared without regard to case.
    """
    word = reason.strip().lower()
    if word in TRUNCATED_REASONS:
        return Generated(finish=Finish.TRUNCATED, needs_hint=not has_text)
    if word in COMPLETE_REASONS and has_text:
        return Generated(finish=Finish.COMPLETE)
    if word == "content_filter":
        raise ModelError(
            "The model's provider withheld the answer (content filter).", hint="Put the question in other words."
        )
    if has_text:
        return Generated(finish=Finish.COMPLETE)
    raise ModelError(
        f"The model ended without an answer ({word or 'no reason given'}).",
        hint="Ask again; if it happens every time, check the chat model in the settings.",
    )


async def generate(
    model: ChatModel,
    messages: Sequence[ChatMessage],
    options: ChatOptions,
    *,
    decoder: Decoder,
    thinking_decoder: Decoder,
    run: Run,
) -> Generated:
    """Send the model's deltas as answer and thinking events. What the decoders hold back is sent on every path.

    A second finish and text after the finish, which some providers send, are ignored.
    """
    reason = ""
    try:
        async for delta in model.stream(messages, options):
            if delta.thinking:
                await _think(run, thinking_decoder.feed(delta.thinking))
            if delta.content:
                await run.say(decoder.feed(delta.content), event_id=ANSWER_EVENT_ID)
            if delta.finish_reason:
                reason = delta.finish_reason
                break
    finally:
        await _think(run, thinking_decoder.flush())
        await run.say(decoder.flush(), event_id=ANSWER_EVENT_ID)
    return ending(reason, has_text=bool(run.answer_text.strip()))


async def _think(run: Run, text: str) -> None:
    if text:
        await run.emit(StreamEvent(response_type=ResponseType.THINKING, event_id=THINKING_EVENT_ID, content=text))
