"""``chunk_merge``: ranked chunks become passages, with what earlier answers stood on."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from opora.domain.question import Draft
from opora.domain.search import SearchResult
from opora.merge.merge import merge
from opora.merge.reading import chunk_reader
from opora.pipeline.events import EventType
from opora.pipeline.plugin import Next
from opora.pipeline.run import Run
from opora.pipeline.services import Services


class Merge:
    name: ClassVar[str] = "merge"
    events: ClassVar[frozenset[EventType]] = frozenset({EventType.CHUNK_MERGE})

    def __init__(self, services: Services) -> None:
        self._database = services.database

    async def on_event(self, event: EventType, draft: Draft, run: Run, call_next: Next) -> Draft:
        if not draft.passages:
            return await call_next(draft)
        stage = await merge(
            draft.ranked,
            draft.found,
            query=draft.query,
            asked=draft.question.text,
            read=chunk_reader(self._database, draft.question.scope),
            history_references=last_references(draft),
            settings=draft.question.settings,
        )
        draft = replace(
            draft,
            merged=stage.results,
            drops=(*draft.drops, *stage.drops),
            warnings=(*draft.warnings, *stage.warnings),
        )
        return await call_next(draft)


def last_references(draft: Draft) -> tuple[SearchResult, ...]:
    """The references of the last round that has any; older rounds are not looked at."""
    return next((round_.references for round_ in reversed(draft.history) if round_.references), ())
