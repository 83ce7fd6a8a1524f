"""The order in which plugins are registered, which is the order of their chains: read it as a recipe."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from opora.pipeline.plugin import Plugin
from opora.pipeline.services import Services

PLUGINS: tuple[str, ...] = (
    "opora.pipeline.plugins.search:Search",
    "opora.pipeline.plugins.rerank:Rerank",
    "opora.pipeline.plugins.web_fetch:WebFetch",
    "opora.pipeline.plugins.merge:Merge",
    "opora.pipeline.plugins.data_analysis:DataAnalysis",
    "opora.pipeline.plugins.into_chat_message:IntoChatMessage",
    "opora.pipeline.plugins.chat_completion:ChatCompletion",
    "opora.pipeline.plugins.chat_completion_stream:ChatCompletionStream",
    "opora.pipeline.plugins.filter_top_k:FilterTopK",
    "opora.pipeline.plugins.query_understand:QueryUnderstand",
    "opora.pipeline.plugins.load_history:LoadHistory",
    "opora.pipeline.plugins.memory_recall:MemoryRecall",
    "opora.pipeline.plugins.extract_entity:ExtractEntity",
    "opora.pipeline.plugins.search_entity:SearchEntity",
    "opora.pipeline.plugins.search_parallel:SearchParallel",
    "opora.pipeline.plugins.wiki_boost:WikiBoost",
    "opora.pipeline.plugins.memory_affinity:MemoryAffinity",
)
"""In the order of the described system's container; it matters where plugins share an event.

On ``query_understand`` the question is rewritten before its entities are looked for. On ``chunk_rerank`` the chain is
`Rerank` -> `WikiBoost` -> `MemoryAffinity`, outermost first. `Rerank` works before it calls the next one, the two
boosts after, from the inside out. So what truly happens is: the candidates are ranked, then weighed by memory affinity,
then wiki pages are raised."""


def make_plugins(services: Services) -> list[Plugin]:
    """One of each, in the order of the table."""
    return [_load(target)(services) for target in PLUGINS]


def plugin_types() -> list[type[Any]]:
    """The class of each, in the order of the table."""
    return [_load(target) for target in PLUGINS]


def _load(target: str) -> type[Any]:
    module, _, name = target.partition(":")
    loaded: type[Any] = getattr(import_module(module), name)
    return loaded
