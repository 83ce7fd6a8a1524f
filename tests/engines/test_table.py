"""The table of engines and the directory of bases."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from opora.domain.errors import EngineError, InvalidInput
from opora.domain.scope import LOCAL_PRINCIPAL, BaseRef, Scope
from opora.engines.directory import EngineDirectory
from opora.engines.table import ENGINES, engine_class, make_engine


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
    directory = EngineDirectory({"one": one, "two": two}, default="one", bound={"b": "two"})
    assert directory.default is one
    assert (directory.engine_of("a"), directory.engine_of("b")) == (one, two)
    where = Scope(
        principal=LOCAL_PRINCIPAL,
        bases=tuple(BaseRef(base_id=b, tenant_id="default") for b in ("a", "b", "c")),
        tag_ids=frozenset({"t"}),
    )
    parts = [(engine, part.base_ids, part.tag_ids) for engine, part in directory.groups(where)]
    assert parts == [(one, ("a", "c"), {"t"}), (two, ("b",), {"t"})]
    await directory.close()
    with pytest.raises(EngineError):
        await one.generation()
    with pytest.raises(EngineError):
        await two.generation()


def test_a_directory_without_its_default_engine_is_refused() -> None:
    with pytest.raises(EngineError):
        EngineDirectory({}, default="sqlite")
