"""Finds the engine that holds a knowledge base: the store it is bound to, or the installation's own."""

from __future__ import annotations

from collections.abc import Mapping

from opora.domain.errors import EngineError
from opora.domain.knowledge import KnowledgeBase
from opora.ports import SearchEngine


class EngineDirectory:
    """``engines`` by name; a base whose ``vector_store_id`` is empty is held by the one named ``default``."""

    def __init__(self, engines: Mapping[str, SearchEngine], *, default: str) -> None:
        self._engines = dict(engines)
        self._default = default
        self._engine(default)

    @property
    def default(self) -> SearchEngine:
        return self._engine(self._default)

    def engine_for(self, base: KnowledgeBase) -> SearchEngine:
        """Raises `EngineError` when the base is bound to a store that is not configured."""
        return self._engine(base.vector_store_id or self._default)

    async def close(self) -> None:
        for engine in self._engines.values():
            await engine.close()

    def _engine(self, name: str) -> SearchEngine:
        if name not in self._engines:
            raise EngineError(f"The search engine {name!r} is not configured.", hint="Name it in the settings.")
        return self._engines[name]
