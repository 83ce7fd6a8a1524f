"""How a model's stream becomes an answer, and how each kind of end is told apart."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest

from opora.domain.conversation import Finish
from opora.domain.errors import ModelError
from opora.domain.stream import ResponseType, StreamEvent
from opora.pipeline.generate import Generated, ending, generate
from opora.pipeline.run import Run
from opora.ports import ChatDelta, ChatMessage, ChatOptions


class Plain:
    def feed(self, text: str) -> str:
        return text

    def flush(self) -> str:
        return ""


class HoldsBack:
    """Keeps the last character, as a decoder does while a tag may be beginning."""

    held = ""

    def feed(self, text: str) -> str:
        text = self.held + text
        self.held = text[-1:]
        return text[:-1]

    def flush(self) -> str:
        held, self.held = self.held, ""
        return held


class Says:
    sees_images = False
    identity = "says"

    def __init__(self, *deltas: ChatDelta, error: Exception | None = None) -> None:
        self.deltas = deltas
        self.error = error

    async def stream(self, messages: Sequence[ChatMessage], options: ChatOptions) -> AsyncIterator[ChatDelta]:
        for delta in self.deltas:
            yield delta
        if self.error:
            raise self.error

    async def close(self) -> None: ...


async def answer(model: Says, decoder: type = Plain) -> tuple[Generated, list[StreamEvent], Run]:
    events: list[StreamEvent] = []

    async def emit(event: StreamEvent) -> None:
        events.append(event)

    run = Run(emit=emit)
    generated = await generate(model, (), ChatOptions(), decoder=decoder(), thinking_decoder=decoder(), run=run)
    return generated, events, run


@pytest.mark.parametrize("reason", ["stop", "STOP", "end_turn", ""])
def test_complete(reason: str) -> None:
    assert ending(reason, has_text=True) == Generated(finish=Finish.COMPLETE)


@pytest.mark.parametrize("reason", ["length", "max_tokens", "max_output_tokens", "MAX_TOKENS", "Length"])
def test_reasons_of_truncation_are_read_without_case(reason: str) -> None:
    assert ending(reason, has_text=True) == Generated(finish=Finish.TRUNCATED)
    assert ending(reason, has_text=False) == Generated(finish=Finish.TRUNCATED, needs_hint=True)


@pytest.mark.parametrize("reason", ["content_filter", "tool_calls", "stop", ""])
def test_an_end_without_text_is_an_error_that_says_why(reason: str) -> None:
    with pytest.raises(ModelError) as caught:
        ending(reason, has_text=False)
    assert caught.value.message
    assert caught.value.hint


async def test_text_and_a_second_finish_after_the_first_are_ignored() -> None:
    model = Says(
        ChatDelta(content="Да", finish_reason="stop"), ChatDelta(content="лишнее"), ChatDelta(finish_reason="stop")
    )
    generated, _, run = await answer(model)
    assert (generated.finish, run.answer_text) == (Finish.COMPLETE, "Да")


async def test_what_a_decoder_holds_back_is_sent_before_the_end() -> None:
    _, events, run = await answer(
        Says(ChatDelta(thinking="мысль"), ChatDelta(content="Да", finish_reason="stop")), HoldsBack
    )
    assert run.answer_text == "Да"
    assert "".join(e.content for e in events if e.response_type is ResponseType.THINKING) == "мысль"


async def test_what_was_written_stays_when_the_model_fails_in_mid_stream() -> None:
    model = Says(ChatDelta(content="Да"), error=ModelError("overloaded"))
    events: list[StreamEvent] = []

    async def emit(event: StreamEvent) -> None:
        events.append(event)

    run = Run(emit=emit)
    with pytest.raises(ModelError):
        await generate(model, (), ChatOptions(), decoder=HoldsBack(), thinking_decoder=Plain(), run=run)
    assert run.answer_text == "Да"
