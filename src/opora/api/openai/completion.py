"""Turns the events of an answer into one completion, or into the chunks of a stream."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from opora.api.openai.route import error_body, to_json
from opora.api.openai.sources import Sources
from opora.chat.direct import Ended
from opora.domain.conversation import Finish
from opora.domain.errors import OporaError
from opora.domain.question import Question
from opora.domain.stream import ResponseType, StreamEvent

Events = AsyncGenerator[StreamEvent | Ended, None]
DONE = b"data: [DONE]\n\n"


class Completion:
    """One answer in the making. Thinking goes out as ``reasoning_content``, as other servers of this kind do."""

    def __init__(self, question: Question, model: str) -> None:
        self._base = {
            "id": f"chatcmpl-{question.assistant_message_id}",
            "created": int(question.asked_at.timestamp()),
            "model": model,
        }
        self._sources = Sources(question.language)

    def delta(self, event: StreamEvent | Ended) -> dict[str, str]:
        """What the event adds to the message; empty for events that say nothing to such a client."""
        if isinstance(event, Ended):
            text = self._sources.text()
            return {"content": text} if text else {}
        if event.references:
            self._sources.know(event.references)
        if event.response_type is ResponseType.ANSWER and event.content:
            return {"content": self._sources.numbered(event.content)}
        if event.response_type is ResponseType.THINKING and event.content:
            return {"reasoning_content": event.content}
        return {}

    def chunk(self, delta: dict[str, str], *, with_usage: bool) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}
        body = {**self._base, "object": "chat.completion.chunk", "choices": [choice]}
        return {**body, "usage": None} if with_usage else body

    def last_chunk(self, ended: Ended, *, with_usage: bool) -> dict[str, Any]:
        body = self.chunk({}, with_usage=with_usage)
        body["choices"][0]["finish_reason"] = _reason(ended)
        return {**body, **self._beside(ended)}

    def usage_chunk(self, ended: Ended) -> dict[str, Any]:
        return {**self._base, "object": "chat.completion.chunk", "choices": [], "usage": _usage(ended)}

    def whole(self, deltas: list[dict[str, str]], ended: Ended) -> dict[str, Any]:
        message = {"role": "assistant", "content": "".join(delta.get("content", "") for delta in deltas)}
        if thinking := "".join(delta.get("reasoning_content", "") for delta in deltas):
            message["reasoning_content"] = thinking
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _reason(ended)}
        body = {**self._base, "object": "chat.completion", "choices": [choice], "usage": _usage(ended)}
        return {**body, **self._beside(ended)}

    def _beside(self, ended: Ended) -> dict[str, Any]:
        """Fields of our own: the sources in full, and what has no word in this protocol."""
        return {
            "citations": self._sources.citations(),
            "opora": {"finish": ended.finish.value, "extractive": ended.is_extractive},
        }


async def ready(events: Events) -> tuple[list[StreamEvent | Ended], Events]:
    """The events up to the sources or the first word: what fails before can still be told by a status."""
    first: list[StreamEvent | Ended] = []
    async for event in events:
        first.append(event)
        if isinstance(event, Ended) or event.response_type in _SHOWN:
            break
    return first, events


_SHOWN = frozenset({ResponseType.REFERENCES, ResponseType.ANSWER, ResponseType.THINKING})


async def whole(completion: Completion, events: Events) -> dict[str, Any]:
    deltas: list[dict[str, str]] = []
    ended: Ended | None = None
    async with aclosing(events):
        async for event in events:
            deltas.append(completion.delta(event))
            if isinstance(event, Ended):
                ended = event
    assert ended is not None, "an answer ends, or its failure is raised"
    return completion.whole(deltas, ended)


async def frames(
    completion: Completion, first: list[StreamEvent | Ended], events: Events, *, with_usage: bool
) -> AsyncGenerator[bytes, None]:
    """Server-sent events without ids: such a stream can't be taken up again, and ends with its reader."""

    def framed(body: dict[str, Any]) -> bytes:
        return b"data: %b\n\n" % to_json(body)

    def shown(event: StreamEvent | Ended) -> list[bytes]:
        delta = completion.delta(event)
        out = [framed(completion.chunk(delta, with_usage=with_usage))] if delta else []
        if isinstance(event, Ended):
            out.append(framed(completion.last_chunk(event, with_usage=with_usage)))
            if with_usage:
                out.append(framed(completion.usage_chunk(event)))
            out.append(DONE)
        return out

    async with aclosing(events):
        yield framed(completion.chunk({"role": "assistant", "content": ""}, with_usage=with_usage))
        for event in first:
            for frame in shown(event):
                yield frame
        try:
            async for event in events:
                for frame in shown(event):
                    yield frame
        except OporaError as exc:
            yield framed(error_body(exc))


def _reason(ended: Ended) -> str:
    return "length" if ended.finish is Finish.TRUNCATED else "stop"


def _usage(ended: Ended) -> dict[str, int]:
    """Estimates: answers without a model have no count of their own, and models count differently."""
    return {
        "prompt_tokens": ended.prompt_tokens,
        "completion_tokens": ended.completion_tokens,
        "total_tokens": ended.prompt_tokens + ended.completion_tokens,
    }
