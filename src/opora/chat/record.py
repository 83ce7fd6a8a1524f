"""Folds a finished, stopped or failed run into the message that is stored, with its trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from opora.domain.conversation import CitationCheck, Finish, Message
from opora.domain.question import Draft
from opora.domain.scope import Scope
from opora.pipeline.run import Run
from opora.pipeline.trace import candidates, plain, stages_of


def finished_message(
    message: Message, run: Run, *, citations: Sequence[CitationCheck], finish: Finish, error: str, now: datetime
) -> Message:
    """The assistant's message as it is stored: what was written stays, whatever the end."""
    draft = run.draft
    return replace(
        message,
        content=run.answer_text,
        references=run.references or (),
        citations=tuple(citations),
        is_completed=True,
        finish=finish,
        error_message=error,
        trace=trace_of(draft, run) if draft else {},
        updated_at=now,
    )


def trace_of(draft: Draft, run: Run) -> dict[str, Any]:
    """Everything but ``times`` is the same for the same question over the same data."""
    settings = draft.question.settings
    return {
        "query": draft.query,
        "intent": draft.intent.value,
        "targets": _targets(draft.question.scope),
        "settings": {
            name: {"value": value, "origin": settings.origin(name).value}
            for name, value in asdict(settings.values).items()
        },
        "candidates": [plain(candidate) for candidate in candidates(stages_of(draft), draft.drops)],
        "warnings": list(draft.warnings),
        "diagnostics": dict(draft.diagnostics),
        "nothing_found": draft.nothing_found,
        "extractive": bool(draft.quotes),
        "times": [{"event": event, "ms": round(ms, 3)} for event, ms in run.times],
    }


def _targets(scope: Scope) -> dict[str, Any]:
    """What the search was limited to; ``documents`` is how many were left, None for all."""
    return {
        "documents": None if scope.document_ids is None else len(scope.document_ids),
        "tag_ids": None if scope.tag_ids is None else sorted(scope.tag_ids),
        "is_filtered": scope.is_filtered,
    }
