"""What use cases see of the workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from opora.domain.knowledge import ParseStatus


class Jobs(Protocol):
    """What the use cases see of the workers: they wake them, and wait for what changes."""

    def wake(self) -> None:
        """Work was committed; look now."""
        ...

    def interrupt(self, subject: str) -> None:
        """Stop the reading or embedding of a document that was cancelled, where it is under way in this process."""
        ...

    @property
    def changes(self) -> int:
        """Grows whenever work on something ended a step."""
        ...

    async def changed(self, seen: int) -> int:
        """Wait until `changes` is above ``seen``, or for some seconds: another server may have done something."""
        ...

    def seconds_for(self, chunks: int) -> float | None:
        """How long embedding that many chunks takes at the present pace; None while nothing is known."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a document's processing is; ``seconds_left`` is an estimate, None while nothing is known."""

    document_id: str
    status: ParseStatus
    chunks: int
    embedded: int
    seconds_left: float | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
