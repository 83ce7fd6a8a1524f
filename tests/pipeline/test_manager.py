"""The chain of responsibility: registered first is outermost, and work after ``call_next`` runs from the inside out."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from opora.domain.question import Draft
from opora.pipeline.events import EventType
from opora.pipeline.manager import EventManager
from opora.pipeline.plugin import Next
from opora.pipeline.run import Run


class Noting:
    events: ClassVar = frozenset({EventType.CHUNK_RERANK})

    def __init__(self, name: str, *, ends: bool = False) -> None:
        self.name = name
        self.ends = ends

    async def on_event(self, event: EventType, draft: Draft, run: Run, call_next: Next) -> Draft:
        draft = replace(draft, warnings=(*draft.warnings, f"{self.name} in"))
        if not self.ends:
            draft = await call_next(draft)
        return replace(draft, warnings=(*draft.warnings, f"{self.name} out"))


async def order(manager: EventManager, draft: Draft) -> tuple[str, ...]:
    return (await manager.trigger(EventType.CHUNK_RERANK, draft, Run())).warnings


async def test_first_registered_is_outermost(draft: Draft) -> None:
    manager = EventManager([Noting("a"), Noting("b"), Noting("c")])
    assert await order(manager, draft) == ("a in", "b in", "c in", "c out", "b out", "a out")


async def test_a_plugin_that_does_not_call_next_ends_the_chain(draft: Draft) -> None:
    manager = EventManager([Noting("a"), Noting("b", ends=True), Noting("c")])
    assert await order(manager, draft) == ("a in", "b in", "b out", "a out")


async def test_an_event_without_plugins_gives_the_draft_back(draft: Draft) -> None:
    assert await EventManager().trigger(EventType.CHUNK_MERGE, draft, Run()) is draft


async def test_outside_plugins_stand_before_or_after_a_named_one(draft: Draft) -> None:
    manager = EventManager([Noting("a"), Noting("b")])
    manager.register(Noting("x"), before="b")
    manager.register(Noting("y"), after="a")
    manager.register(Noting("z"), after="nobody")
    assert [plugin.name for plugin in manager.chain(EventType.CHUNK_RERANK)] == ["a", "y", "x", "b", "z"]
