"""Assembles the list of events for a question, and holds the static presets."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Self

from opora.domain.question import Question
from opora.pipeline.events import EventType as E


class PipelineBuilder:
    """Collects events in order: ``PipelineBuilder().add_if(has_history, E.LOAD_HISTORY).add(...).build()``."""

    def __init__(self) -> None:
        self._events: list[E] = []

    def add(self, event: E) -> Self:
        self._events.append(event)
        return self

    def add_if(self, condition: bool, event: E) -> Self:
        return self.add(event) if condition else self

    def build(self) -> tuple[E, ...]:
        return tuple(self._events)


def for_question(question: Question) -> tuple[E, ...]:
    """The events of one question: plain chat when no base is in scope and the web is off, else the whole funnel.

    Plain chat understands only questions with pictures: what they show is kept for later rounds, and told to a model
    that does not see.
    """
    settings = question.settings.values
    has_history = settings.max_rounds > 0
    if not question.scope.bases and not settings.web_search_enabled:
        return (
            PipelineBuilder()
            .add_if(has_history, E.LOAD_HISTORY)
            .add(E.MEMORY_RECALL)
            .add_if(bool(question.pictures), E.QUERY_UNDERSTAND)
            .add(E.CHAT_COMPLETION_STREAM)
            .build()
        )
    return (
        PipelineBuilder()
        .add_if(has_history, E.LOAD_HISTORY)
        .add(E.MEMORY_RECALL)
        .add(E.QUERY_UNDERSTAND)
        .add(E.CHUNK_SEARCH_PARALLEL)
        .add(E.CHUNK_RERANK)
        .add_if(settings.web_search_enabled, E.WEB_FETCH)
        .add(E.CHUNK_MERGE)
        .add(E.FILTER_TOP_K)
        .add_if(settings.data_analysis_enabled, E.DATA_ANALYSIS)
        .add(E.INTO_CHAT_MESSAGE)
        .add(E.CHAT_COMPLETION_STREAM)
        .build()
    )


_FUNNEL = (E.QUERY_UNDERSTAND, E.CHUNK_SEARCH_PARALLEL, E.CHUNK_RERANK, E.CHUNK_MERGE, E.FILTER_TOP_K)

PRESETS: Mapping[str, tuple[E, ...]] = MappingProxyType(
    {
        "chat": (E.CHAT_COMPLETION,),
        "chat_stream": (E.CHAT_COMPLETION_STREAM,),
        "chat_history_stream": (E.LOAD_HISTORY, E.MEMORY_RECALL, E.CHAT_COMPLETION_STREAM),
        "rag": (*_FUNNEL, E.INTO_CHAT_MESSAGE, E.CHAT_COMPLETION),
        "rag_stream": (E.LOAD_HISTORY, E.MEMORY_RECALL, *_FUNNEL, E.INTO_CHAT_MESSAGE, E.CHAT_COMPLETION_STREAM),
    }
)
"""For callers that need no assembly of their own."""
