"""Which events a question goes through, and the presets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from opora.domain.question import Question
from opora.domain.settings import Effective, RetrievalSettings
from opora.pipeline.builder import PRESETS, for_question
from opora.pipeline.events import EventType as E


def with_settings(question: Question, **values: object) -> Question:
    return replace(question, settings=Effective(values=replace(RetrievalSettings(), **values)))


RAG = (
    E.LOAD_HISTORY,
    E.MEMORY_RECALL,
    E.QUERY_UNDERSTAND,
    E.CHUNK_SEARCH_PARALLEL,
    E.CHUNK_RERANK,
    E.CHUNK_MERGE,
    E.FILTER_TOP_K,
    E.INTO_CHAT_MESSAGE,
    E.CHAT_COMPLETION_STREAM,
)


def test_a_question_to_a_base_goes_through_nine_events_in_this_order(question: Question) -> None:
    assert for_question(question) == RAG


def test_web_fetch_stands_between_rerank_and_merge_and_table_analysis_after_the_cut(question: Question) -> None:
    events = for_question(with_settings(question, web_search_enabled=True, data_analysis_enabled=True))
    assert events[4:9] == (E.CHUNK_RERANK, E.WEB_FETCH, E.CHUNK_MERGE, E.FILTER_TOP_K, E.DATA_ANALYSIS)


def test_plain_chat_without_bases_and_without_web(question: Question) -> None:
    plain = replace(question, scope=replace(question.scope, bases=()))
    assert for_question(plain) == (E.LOAD_HISTORY, E.MEMORY_RECALL, E.CHAT_COMPLETION_STREAM)


@pytest.mark.parametrize("rounds", [0, -1])
def test_rounds_at_or_below_zero_skip_the_history(question: Question, rounds: int) -> None:
    assert E.LOAD_HISTORY not in for_question(with_settings(question, max_rounds=rounds))


def test_presets() -> None:
    assert set(PRESETS) == {"chat", "chat_stream", "chat_history_stream", "rag", "rag_stream"}
    assert PRESETS["rag_stream"] == RAG
    assert PRESETS["rag"][-1] is E.CHAT_COMPLETION
