"""Which engine holds which knowledge base."""

from __future__ import annotations

from collections.abc import Mapping

from opora.domain.errors import EngineError
from opora.domain.scope import Scope
from opora.ports import SearchEngine


class EngineDirectory:
    """Finds the engine of a base: the one that the base is bound to, else the default one."""

    def __init__(
        self, engines: Mapping[str, SearchEngine], *, default: str, bound: Mapping[str, str] | None = None
    ) -> None:
        self._engines = dict(engines)
        self._default = default
        self._bound = dict(bound or {})
        for name in {default, *self._bound.values()}:
            self._engine(name)

    @property
    def default(self) -> SearchEngine:
        return self._engine(self._default)

    def engine_of(self, base_id: str) -> SearchEngine:
        return self._engine(self._bound.get(base_id, self._default))

    def groups(self, scope: Scope) -> list[tuple[SearchEngine, Scope]]:
        """The scope cut into one part for each engine that holds bases of it, in the order of the bases."""
        names: dict[str, list[str]] = {}
        for base_id in scope.base_ids:
            names.setdefault(self._bound.get(base_id, self._default), []).append(base_id)
        return [(self._engine(name), scope.narrowed(base_ids=tuple(ids))) for name, ids in names.items()]

    async def close(self) -> None:
        for engine in self._engines.values():
            await engine.close()

    def _engine(self, name: str) -> SearchEngine:
        if name not in self._engines:
            raise EngineError(f"The search engine {name!r} is not configured.", hint="Name it in the settings.")
        return self._engines[name]
