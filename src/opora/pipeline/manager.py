"""Registers plugins and runs the chain of one event: the plugin registered first is the outermost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from opora.domain.question import Draft
from opora.pipeline.events import EventType
from opora.pipeline.plugin import Next, Plugin
from opora.pipeline.run import Run


class EventManager:
    """Holds the plugins by event, in the order of their registration."""

    def __init__(self, plugins: Iterable[Plugin] = ()) -> None:
        self._plugins: dict[EventType, list[Plugin]] = defaultdict(list)
        for plugin in plugins:
            self.register(plugin)

    def register(self, plugin: Plugin, *, before: str | None = None, after: str | None = None) -> None:
        """Append a plugin to each of its events, or put it next to the named one where that one is present."""
        for event in plugin.events:
            chain = self._plugins[event]
            chain.insert(_position(chain, before=before, after=after), plugin)

    def chain(self, event: EventType) -> tuple[Plugin, ...]:
        """The plugins of an event, outermost first."""
        return tuple(self._plugins.get(event, ()))

    async def trigger(self, event: EventType, draft: Draft, run: Run) -> Draft:
        """Run the chain of ``event``; with no plugin the draft comes back as it is."""
        return await _link(self.chain(event), 0, event, run)(draft)


def _link(chain: tuple[Plugin, ...], index: int, event: EventType, run: Run) -> Next:
    async def call(draft: Draft) -> Draft:
        if index == len(chain):
            return draft
        return await chain[index].on_event(event, draft, run, _link(chain, index + 1, event, run))

    return call


def _position(chain: list[Plugin], *, before: str | None, after: str | None) -> int:
    for index, plugin in enumerate(chain):
        if plugin.name == before:
            return index
        if plugin.name == after:
            return index + 1
    return len(chain)
