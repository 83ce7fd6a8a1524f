"""``filter_top_k``: a total order over the passages, and the cut."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from opora.domain.question import Draft
from opora.merge.top_k import filter_top_k
from opora.pipeline.events import EventType
from opora.pipeline.plugin import Next
from opora.pipeline.run import Run
from opora.pipeline.services import Services


class FilterTopK:
    name: ClassVar[str] = "filter_top_k"
    events: ClassVar[frozenset[EventType]] = frozenset({EventType.FILTER_TOP_K})

    def __init__(self, services: Services) -> None:
        pass

    async def on_event(self, event: EventType, draft: Draft, run: Run, call_next: Next) -> Draft:
        """Cuts the merged list, or where there is none the ranked or the found one."""
        if not draft.passages:
            return await call_next(draft)
        stage = filter_top_k(draft.passages, draft.question.settings.values.rerank_top_k)
        return await call_next(replace(draft, merged=stage.results, drops=(*draft.drops, *stage.drops)))
