"""The engines that Opora knows, each loaded only when it is used."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, cast

from opora.domain.errors import InvalidInput
from opora.ports import SearchEngine

ENGINES: Mapping[str, str] = {
    "sqlite": "opora.engines.sqlite:SqliteEngine",
    "postgres": "opora.engines.postgres:PostgresEngine",
    "qdrant": "opora.engines.qdrant:QdrantEngine",
}


def engine_class(name: str) -> type[Any]:
    """The class of an engine; raises `InvalidInput` for a name that is not in the table."""
    if name not in ENGINES:
        raise InvalidInput.of(
            "engine", f"There is no search engine named {name!r}.", hint=f"Known engines: {', '.join(sorted(ENGINES))}."
        )
    module, _, attribute = ENGINES[name].partition(":")
    return cast("type[Any]", getattr(import_module(module), attribute))


def make_engine(name: str, **parameters: Any) -> SearchEngine:
    """An engine by its name in the table, made with its own parameters."""
    return cast("SearchEngine", engine_class(name)(**parameters))
