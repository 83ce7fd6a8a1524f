"""Runs the conformance suite against every engine of the table."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from opora.engines.table import ENGINES, make_engine
from opora.ports import SearchEngine

_spec = importlib.util.spec_from_file_location("engine_conformance", Path(__file__).with_name("conformance.py"))
assert _spec is not None
assert _spec.loader is not None
_suite = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = _suite
_spec.loader.exec_module(_suite)


Place = Callable[[], Awaitable[str]]
"""The address of an empty database of the test's own, made when it is asked for."""


async def in_file(folder: Path) -> SearchEngine:
    return make_engine("sqlite", path=folder / "index.db")


async def in_postgres(place: Place) -> SearchEngine:
    return make_engine("postgres", address=await place())


async def in_memory() -> SearchEngine:
    """The client's own storage, which takes the same calls as a server."""
    from qdrant_client import AsyncQdrantClient

    return make_engine("qdrant", connect=lambda: AsyncQdrantClient(":memory:"))


MAKERS: dict[str, Callable[[Path, Place], Awaitable[SearchEngine]]] = {
    "sqlite": lambda folder, _: in_file(folder),
    "postgres": lambda _, place: in_postgres(place),
    "qdrant": lambda *_: in_memory(),
}


@pytest.fixture(params=sorted(ENGINES))
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SearchEngine]:
    """An open, empty engine."""

    async def place() -> str:
        url: str = await request.getfixturevalue("postgres_server").create_empty()
        return url

    engine = await MAKERS[request.param](tmp_path, place)
    yield engine
    await engine.close()


@pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")
class TestEveryEngine(_suite.Conformance):  # type: ignore[misc, name-defined]
    """Every engine of the table."""
