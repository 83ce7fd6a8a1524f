"""Streams of every vendor's shape end in one finish or one error, wherever the network cut them."""

import json
from collections.abc import AsyncIterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.domain.errors import ModelError
from opora.models.openai_stream import MAX_EVENT_BYTES, EventLines, read_deltas
from opora.ports import ChatDelta


def event(content: str | None, finish: str | None = None, **more: object) -> str:
    return json.dumps({"choices": [{"delta": {"content": content, **more}, "finish_reason": finish}]})


def frames(*events: str, end: str = "\n\n") -> bytes:
    return b"".join(f"data: {data}{end}".encode() for data in events)


async def collect(*chunks: bytes, into: list[ChatDelta] | None = None) -> list[ChatDelta]:
    async def source() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    got = [] if into is None else into
    async for delta in read_deltas(source()):
        got.append(delta)
    return got


def said(deltas: list[ChatDelta]) -> tuple[str, str, str]:
    return (
        "".join(delta.content for delta in deltas),
        "".join(delta.thinking for delta in deltas),
        "|".join(delta.finish_reason for delta in deltas if delta.finish_reason),
    )


USAGE = json.dumps({"choices": [], "usage": {"total_tokens": 9}})

ENDINGS = {
    "normal": (frames(event("Да"), event("", "stop"), "[DONE]"), ("Да", "", "stop")),
    "double": (frames(event("Да"), event("", "stop"), event("", "stop"), "[DONE]", "[DONE]"), ("Да", "", "stop")),
    "text after the end": (frames(event("Да", "stop"), event("лишнее")), ("Да", "", "stop")),
    "upper case": (frames(event("Да", "STOP")), ("Да", "", "STOP")),
    "length": (frames(event("Да", "length")), ("Да", "", "length")),
    "another word": (frames(event("Да", "MAX_TOKENS")), ("Да", "", "MAX_TOKENS")),
    "empty at length": (frames(event("", "length")), ("", "", "length")),
    "thinking alone": (frames(event(None, None, reasoning_content="хм"), event("", "length")), ("", "хм", "length")),
    "thinking by another name": (frames(event("", None, reasoning="хм"), event("Да", "stop")), ("Да", "хм", "stop")),
    "filter": (frames(event("", "content_filter")), ("", "", "content_filter")),
    "tool": (frames(event("", "tool_calls")), ("", "", "tool_calls")),
    "no choices": (frames('{"choices": []}', '{"choices": null}', event("Да", "stop")), ("Да", "", "stop")),
    "null delta": (frames('{"choices": [{"delta": null}]}', event("Да", "stop")), ("Да", "", "stop")),
    "usage after": (frames(event("Да", "stop"), USAGE), ("Да", "", "stop")),
    "done without a reason": (frames(event("Да"), "[DONE]"), ("Да", "", "stop")),
    "parts": (
        frames(json.dumps({"choices": [{"delta": {"content": [{"text": "Да"}]}, "finish_reason": "stop"}]})),
        ("Да", "", "stop"),
    ),
    "comments and other fields": (
        b": ping\n\nevent: message\nid: 1\n" + frames(event("Да", "stop")),
        ("Да", "", "stop"),
    ),
    "no blank lines": (frames(event("Да"), event("", "stop"), "[DONE]", end="\n"), ("Да", "", "stop")),
    "carriage returns": (frames(event("Да"), event("", "stop"), end="\r\n\r\n"), ("Да", "", "stop")),
    "bare carriage returns": (frames(event("Да"), event("", "stop"), end="\r\r"), ("Да", "", "stop")),
    "no space after the colon": (frames(event("Да", "stop")).replace(b"data: ", b"data:"), ("Да", "", "stop")),
    "no last line end": (frames(event("Да")) + f"data: {event('', 'stop')}".encode(), ("Да", "", "stop")),
}


@pytest.mark.parametrize("name", ENDINGS)
async def test_endings(name: str) -> None:
    stream, expected = ENDINGS[name]
    deltas = await collect(stream)
    assert said(deltas) == expected
    assert deltas[-1].finish_reason


FAILURES = {
    "closed early": (frames(event("Да")), "Да", "closed"),
    "closed in an event": (frames(event("Да")) + b'data: {"choices": [{"del', "Да", "JSON"),
    "error in the middle": (frames(event("Да"), '{"error": {"message": "overloaded"}}'), "Да", "overloaded"),
    "error as text": (frames('{"error": "overloaded"}'), "", "overloaded"),
    "error beside choices": (frames('{"error": {"code": 5}, "choices": []}'), "", "failed"),
    "nothing": (b"", "", "closed"),
    "only done": (frames("[DONE]"), "", "without saying"),
    "not JSON": (frames("<html>"), "", "JSON"),
    "not an object": (frames("[1]"), "", "not an object"),
}


@pytest.mark.parametrize("name", FAILURES)
async def test_failures(name: str) -> None:
    stream, before, message = FAILURES[name]
    got: list[ChatDelta] = []
    with pytest.raises(ModelError, match=message):
        await collect(stream, into=got)
    assert said(got)[0] == before


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(ENDINGS)), st.data())
async def test_the_cuts_of_the_network_change_nothing(name: str, data: st.DataObject) -> None:
    stream, expected = ENDINGS[name]
    cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)), max_size=12)))
    chunks = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert said(await collect(*chunks)) == expected


def test_a_line_without_end_is_refused() -> None:
    lines = EventLines()
    with pytest.raises(ModelError):
        list(lines.feed(b"data: " + b"x" * MAX_EVENT_BYTES))
