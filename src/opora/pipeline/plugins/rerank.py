"""``chunk_rerank``: the found passages judged, composed and picked for variety."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from opora.domain.question import Draft
from opora.pipeline.events import EventType
from opora.pipeline.plugin import Next
from opora.pipeline.run import Run
from opora.pipeline.services import Services
from opora.rank.rank import rank


class Rerank:
    """The outermost of its chain. It hands the ranked results inwards; the boosts act on them on the way back."""

    name: ClassVar[str] = "rerank"
    events: ClassVar[frozenset[EventType]] = frozenset({EventType.CHUNK_RERANK})

    def __init__(self, services: Services) -> None:
        self._reranker = services.reranker

    async def on_event(self, event: EventType, draft: Draft, run: Run, call_next: Next) -> Draft:
        if not draft.found:
            return await call_next(draft)
        question = draft.question
        settings = question.settings
        stage = await rank(
            draft.found,
            query=draft.query,
            settings=settings,
            reranker=run.reranker(self._reranker),
            explicit_scope=question.scope.is_explicit,
            vector_threshold=settings.values.vector_threshold or 0.0,
        )
        draft = replace(
            draft,
            ranked=stage.results,
            drops=(*draft.drops, *stage.drops),
            warnings=(*draft.warnings, *stage.warnings),
            diagnostics={**draft.diagnostics, **stage.diagnostics},
            nothing_found=not stage.results,
        )
        return await call_next(draft)
