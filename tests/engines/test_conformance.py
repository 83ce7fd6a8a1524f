"""Runs the conformance suite against every engine of the table."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import AsyncIterator
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


async def made(name: str, request: pytest.FixtureRequest, folder: Path) -> SearchEngine:
    """An open, empty engine; one that lives in a server gets a database of its own."""
    if name == "postgres":
        return make_engine(name, address=await request.getfixturevalue("postgres_server").create_empty())
    return make_engine(name, path=folder / "index.db")


@pytest.fixture(params=sorted(ENGINES))
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SearchEngine]:
    engine = await made(request.param, request, tmp_path)
    yield engine
    await engine.close()


class TestEveryEngine(_suite.Conformance):  # type: ignore[misc, name-defined]
    """Every engine of the table."""
