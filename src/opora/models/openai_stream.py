"""Reads the stream of an OpenAI-compatible chat endpoint: bytes in pieces of any size to deltas, with its ending known.

Providers end a stream twice, once or not at all, and differ in where they put thinking and errors; all of that is
settled here. The finish reason is passed on in the provider's own word.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterator
from typing import Any

from opora.domain.errors import ModelError
from opora.ports import ChatDelta

DONE = "[DONE]"
MAX_EVENT_BYTES = 4 * 1024 * 1024
IMPLIED_FINISH = "stop"
"""What `DONE` without a finish reason means after some text; older servers send it so."""
_THINKING = ("reasoning_content", "reasoning", "thinking")


class EventLines:
    """Cuts a stream of bytes into the data of server-sent events, wherever the network cut it."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[str]:
        """The data of each event that ``chunk`` completes."""
        # A line may end in CR LF: a CR at the very end waits for what follows it.
        block = (self._rest + chunk).replace(b"\r\n", b"\n")
        held = b"\r" if block.endswith(b"\r") else b""
        lines = block.removesuffix(b"\r").replace(b"\r", b"\n").split(b"\n")
        self._rest = lines.pop() + held
        if len(self._rest) > MAX_EVENT_BYTES:
            raise ModelError("The chat model sent a line beyond all measure.", hint="Check that the address is right.")
        for line in lines:
            yield from self._line(line)

    def flush(self) -> Iterator[str]:
        """What the end of the stream completes."""
        rest, self._rest = self._rest, b""
        yield from self._line(rest.rstrip(b"\r"))
        yield from self._line(b"")

    def _line(self, line: bytes) -> Iterator[str]:
        if not line:
            if self._data:
                yield "\n".join(self._data)
                self._data = []
        elif line.startswith(b"data:"):
            data = line[5:].decode("utf-8", "replace").removeprefix(" ")
            if self._data and self._starts_anew(data):
                # Some servers leave out the blank line between two events.
                yield "\n".join(self._data)
                self._data = []
            self._data.append(data)

    def _starts_anew(self, data: str) -> bool:
        return data == DONE or (data.startswith("{") and _is_json("\n".join(self._data)))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


async def read_deltas(chunks: AsyncIterable[bytes]) -> AsyncGenerator[ChatDelta, None]:
    """Deltas up to the first finish reason, which stands on the last one.

    Raises `ModelError` for an error object in the stream, for data that is not JSON, and for a stream that ends
    without a finish.
    """
    seen = False
    async for data in _events(chunks):
        if data.strip() == DONE:
            if not seen:
                raise ModelError("The chat model ended its answer without saying anything.", hint="Try again.")
            yield ChatDelta(finish_reason=IMPLIED_FINISH)
            return
        delta = read_delta(_parsed(data))
        if delta is None:
            continue
        seen = True
        yield delta
        if delta.finish_reason:
            return
    raise ModelError(
        "The connection to the chat model closed before its answer was finished.", hint="Ask again.", details={"cut": 1}
    )


async def _events(chunks: AsyncIterable[bytes]) -> AsyncIterator[str]:
    lines = EventLines()
    async for chunk in chunks:
        for data in lines.feed(chunk):
            yield data
    for data in lines.flush():
        yield data


def _parsed(data: str) -> Any:
    try:
        return json.loads(data)
    except ValueError as error:
        raise ModelError("The chat model sent something that is not JSON.", hint="Check the address.") from error


def read_delta(event: Any, part: str = "delta") -> ChatDelta | None:
    """One event's delta (or whole ``message``), None when it carries neither text nor a finish."""
    if not isinstance(event, dict):
        raise ModelError("The chat model sent an event that is not an object.", hint="Check the address.")
    if event.get("error"):
        raise ModelError(f"The chat model failed: {error_text(event)}", hint="Try again later.")
    choices = event.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        return None
    found = choice.get(part)
    body: dict[str, Any] = found if isinstance(found, dict) else {}
    finish = choice.get("finish_reason")
    delta = ChatDelta(
        content=_text(body.get("content")),
        thinking=next((text for name in _THINKING if (text := _text(body.get(name)))), ""),
        finish_reason=finish if isinstance(finish, str) else "",
    )
    return delta if delta != ChatDelta() else None


def _text(value: Any) -> str:
    """A string, or the text of a list of parts; anything else is none."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(_text(part.get("text")) for part in value if isinstance(part, dict))
    return ""


def error_text(body: Any, limit: int = 300) -> str:
    """The sentence in an error object of any of the usual shapes, shortened."""
    error = body.get("error", body) if isinstance(body, dict) else body
    text = (error.get("message") or error.get("detail") or "no reason given") if isinstance(error, dict) else error
    return str(text)[:limit]
