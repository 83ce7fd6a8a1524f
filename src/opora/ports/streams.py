"""The log of events of each answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from opora.domain.stream import LogState, StreamEvent


class StreamLog(Protocol):
    """The append-only log of events of each answer. Offsets count from 0; `FIRST` begins a log, `TERMINAL` ends it.

    Every call raises `Unavailable` when the log is kept by a service that can't be reached.
    """

    async def append(self, session_id: str, message_id: str, event: StreamEvent) -> int:
        """Append and wake the followers; returns the event's offset.

        Raises `NotFound` when there is no such log and the event begins none, `Conflict` behind the terminal event
        (but for a title in time), `Busy` when there is no room for another log.
        """
        ...

    async def read(self, session_id: str, message_id: str, from_offset: int = 0) -> tuple[list[StreamEvent], int]:
        """Events from an offset on, and the next offset. Raises `NotFound` when there is no such log."""
        ...

    def follow(self, session_id: str, message_id: str, from_offset: int = 0) -> AsyncIterator[tuple[int, StreamEvent]]:
        """Replay from an offset, then live events, ending after the terminal event (and a late title).

        It ends without the terminal event when nobody is left to write one. Raises `NotFound` like `read`.
        """
        ...

    async def exists(self, session_id: str, message_id: str) -> bool: ...

    async def state(self, session_id: str, message_id: str) -> LogState: ...

    async def take_over(self, session_id: str, message_id: str) -> bool:
        """Become the writer of an abandoned log; False when it is not abandoned, or somebody else was faster."""
        ...

    async def stop_requested(self, session_id: str, message_id: str) -> None:
        """Return as soon as a `stop` stands in the log, whoever wrote it. Never returns when none comes."""
        ...

    async def close(self) -> None: ...
