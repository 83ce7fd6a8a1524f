"""What a plugin is: one link in the chain of responsibility of each event that it names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar, Protocol

from opora.domain.question import Draft
from opora.pipeline.events import EventType
from opora.pipeline.run import Run

Next = Callable[[Draft], Awaitable[Draft]]
"""Runs the rest of the chain on a draft and returns the draft it made."""


class Plugin(Protocol):
    """Work before ``call_next`` prepares, work after it post-processes; a plugin that does not call it ends the chain.

    A plugin is thin: it reads the draft, calls a function of its room and returns a new draft.
    """

    name: ClassVar[str]
    events: ClassVar[frozenset[EventType]]

    async def on_event(self, event: EventType, draft: Draft, run: Run, call_next: Next) -> Draft: ...
