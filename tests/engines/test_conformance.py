"""Runs the conformance suite against every engine of the table."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import AsyncIterator, Callable
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

MAKERS: dict[str, Callable[[Path], SearchEngine]] = {
    "sqlite": lambda folder: make_engine("sqlite", path=folder / "index.db"),
}


@pytest.fixture(params=sorted(ENGINES))
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SearchEngine]:
    made = MAKERS[request.param](tmp_path)
    yield made
    await made.close()


class TestEveryEngine(_suite.Conformance):  # type: ignore[misc, name-defined]
    """Every engine of the table."""
