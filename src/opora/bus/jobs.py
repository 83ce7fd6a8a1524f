"""The `Jobs` port where workers are in several processes: what is committed here is told to all of them."""

from __future__ import annotations

from opora.bus.wake import WorkStream
from opora.ports import Jobs


class AnnouncedJobs:
    """``here`` are the workers of this process, which may have none at work."""

    def __init__(self, here: Jobs, stream: WorkStream) -> None:
        self._here = here
        self._stream = stream

    def wake(self) -> None:
        self._here.wake()
        self._stream.announce()

    def interrupt(self, subject: str) -> None:
        self._here.interrupt(subject)

    @property
    def changes(self) -> int:
        return self._here.changes

    async def changed(self, seen: int) -> int:
        return await self._here.changed(seen)

    def seconds_for(self, chunks: int) -> float | None:
        return self._here.seconds_for(chunks)
