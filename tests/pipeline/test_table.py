"""The order in which plugins are registered, and the chains that come of it."""

from __future__ import annotations

from typing import cast

from opora.pipeline.events import EventType as E
from opora.pipeline.manager import EventManager
from opora.pipeline.plugin import Plugin
from opora.pipeline.table import plugin_types

ORDER = (
    *("search", "rerank", "web_fetch", "merge", "data_analysis", "into_chat_message", "chat_completion"),
    *("chat_completion_stream", "filter_top_k", "query_understand", "load_history", "memory_recall"),
    *("extract_entity", "search_entity", "search_parallel", "wiki_boost", "memory_affinity"),
)
CHAINS = {
    E.LOAD_HISTORY: ("load_history",),
    E.MEMORY_RECALL: ("memory_recall",),
    E.QUERY_UNDERSTAND: ("query_understand", "extract_entity"),
    E.CHUNK_SEARCH: ("search",),
    E.CHUNK_SEARCH_PARALLEL: ("search_parallel",),
    E.ENTITY_SEARCH: ("search_entity",),
    E.CHUNK_RERANK: ("rerank", "wiki_boost", "memory_affinity"),
    E.WEB_FETCH: ("web_fetch",),
    E.CHUNK_MERGE: ("merge",),
    E.DATA_ANALYSIS: ("data_analysis",),
    E.INTO_CHAT_MESSAGE: ("into_chat_message",),
    E.CHAT_COMPLETION: ("chat_completion",),
    E.CHAT_COMPLETION_STREAM: ("chat_completion_stream",),
    E.FILTER_TOP_K: ("filter_top_k",),
}


def test_the_table_is_the_described_order_of_registration() -> None:
    assert tuple(kind.name for kind in plugin_types()) == ORDER


def test_every_event_has_the_described_chain_outermost_first() -> None:
    manager = EventManager(cast(Plugin, kind) for kind in plugin_types())
    assert {event: tuple(plugin.name for plugin in manager.chain(event)) for event in E} == CHAINS
