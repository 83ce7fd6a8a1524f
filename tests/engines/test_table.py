"""The table of engines and the directory of bases."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from opora.domain.errors import EngineError, InvalidInput
from opora.domain.knowledge import KnowledgeBase
from opora.engines.directory import EngineDirectory
from opora.engines.table import ENGINES, engine_class, make_engine

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("name", sorted(ENGINES))
def test_every_engine_of_the_table_loads_under_its_own_name(name: str) -> None:
    assert engine_class(name).name == name
    assert engine_class(name).capabilities


def test_an_unknown_engine_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput) as refused:
        make_engine("nosuch")
    assert "sqlite" in refused.value.hint


def test_the_table_loads_no_driver() -> None:
    code = "import sys, opora.engines.table, opora.engines.directory; sys.exit('apsw' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_a_base_goes_to_the_engine_it_is_bound_to(tmp_path: Path) -> None:
    one = make_engine("sqlite", path=tmp_path / "one.db")
    two = make_engine("sqlite", path=tmp_path / "two.db")
    directory = EngineDirectory({"one": one, "two": two}, default="one")
    base = KnowledgeBase(base_id="a", tenant_id="default", name="A", created_at=NOW, updated_at=NOW)
    assert directory.default is one
    assert directory.engine_for(base) is one
    assert directory.engine_for(replace(base, vector_store_id="two")) is two
    with pytest.raises(EngineError):
        directory.engine_for(replace(base, vector_store_id="gone"))
    await directory.close()
    with pytest.raises(EngineError):
        await one.generation()
    with pytest.raises(EngineError):
        await two.generation()


def test_a_directory_without_its_default_engine_is_refused() -> None:
    with pytest.raises(EngineError):
        EngineDirectory({}, default="sqlite")
