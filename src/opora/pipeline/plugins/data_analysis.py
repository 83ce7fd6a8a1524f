"""``data_analysis``: a computation over a table file that was found joins the passages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePath
from typing import ClassVar

from opora.domain.errors import OporaError
from opora.domain.knowledge import ChunkType
from opora.domain.question import Draft
from opora.domain.search import MatchType, SearchResult
from opora.pipeline.events import EventType
from opora.pipeline.plugin import Next
from opora.pipeline.run import Run
from opora.pipeline.services import Services

DATA_TYPES = frozenset({"csv", "tsv", "xlsx", "xls"})
_ABOUT_TABLES = frozenset({ChunkType.TABLE_COLUMN, ChunkType.TABLE_SUMMARY})


class DataAnalysis:
    """Skipped where it is not switched on, where nothing computes, and where no table file is among the passages."""

    name: ClassVar[str] = "data_analysis"
    events: ClassVar[frozenset[EventType]] = frozenset({EventType.DATA_ANALYSIS})

    def __init__(self, services: Services) -> None:
        self._analyst = services.analyst

    async def on_event(self, event: EventType, draft: Draft, run: Run, call_next: Next) -> Draft:
        if self._analyst is None or not draft.question.settings.values.data_analysis_enabled or not draft.merged:
            return await call_next(draft)
        passages = without_descriptions(draft.merged)
        table = first_table(passages)
        if table is None:
            return await call_next(draft)
        try:
            said = await self._analyst.analyse(draft.question.scope, draft.query, table.document_id)
        except OporaError as error:
            draft = replace(draft, warnings=(*draft.warnings, f"The table was not computed: {error.message}"))
        else:
            draft = replace(draft, merged=(*passages, *([computed(table, said)] if said else [])))
        return await call_next(draft)


def without_descriptions(passages: Iterable[SearchResult]) -> tuple[SearchResult, ...]:
    """The passages without those that only describe tables: they served to find them."""
    return tuple(result for result in passages if result.chunk_type not in _ABOUT_TABLES)


def first_table(passages: Iterable[SearchResult]) -> SearchResult | None:
    """The first passage that comes from a table file."""
    return next((r for r in passages if PurePath(r.file_name).suffix.lstrip(".").lower() in DATA_TYPES), None)


def computed(table: SearchResult, said: str) -> SearchResult:
    """What was computed from a table, as a passage of its document with the highest score."""
    return replace(
        table,
        chunk_id=f"{table.document_id}:data",
        content=said,
        context="",
        sub_chunk_ids=(),
        match_type=MatchType.DATA,
        score=1.0,
    )
