"""A chat model that says what it was told to say, for tests and benchmarks only."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from opora.ports import ChatDelta, ChatMessage, ChatOptions


class ScriptedChat:
    """A `ChatModel` that yields given pieces; an exception among them is raised where it stands.

    ``before_each`` is awaited before every piece, so that a test can hold the stream. What was asked is kept in
    ``asked``.
    """

    def __init__(
        self,
        pieces: Sequence[str | ChatDelta | Exception] = ("OK",),
        *,
        finish_reason: str = "stop",
        before_each: Callable[[], Awaitable[None]] | None = None,
        identity: str = "scripted",
        sees_images: bool = False,
    ) -> None:
        self._pieces = tuple(pieces)
        self._finish_reason = finish_reason
        self._before_each = before_each
        self._identity = identity
        self.sees_images = sees_images
        self.asked: list[tuple[ChatMessage, ...]] = []

    @property
    def identity(self) -> str:
        return self._identity

    async def stream(self, messages: Sequence[ChatMessage], options: ChatOptions) -> AsyncIterator[ChatDelta]:
        self.asked.append(tuple(messages))
        for piece in self._pieces:
            if self._before_each is not None:
                await self._before_each()
            if isinstance(piece, Exception):
                raise piece
            yield ChatDelta(content=piece) if isinstance(piece, str) else piece
        yield ChatDelta(finish_reason=self._finish_reason)

    async def close(self) -> None: ...
