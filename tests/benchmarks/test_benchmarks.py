"""The benchmarks hang together: the table names what exists, the page has a place for it, and quick runs give figures.

No time is asserted anywhere here.
"""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def modules() -> list[str]:
    """Every module with something to run, but the one that runs them all."""
    files = sorted((ROOT / "benchmarks").glob("[!_]*.py"))
    return [file.stem for file in files if "\ndef run(" in file.read_text(encoding="utf-8")]


def test_the_table_names_every_benchmark_and_nothing_else() -> None:
    from benchmarks.table import BENCHMARKS

    assert sorted(benchmark.name for benchmark in BENCHMARKS) == modules()


@pytest.mark.parametrize("name", modules())
@pytest.mark.parametrize("quick", [False, True])
def test_the_arguments_of_the_table_fit(name: str, quick: bool) -> None:
    from benchmarks.table import BENCHMARKS

    benchmark = next(one for one in BENCHMARKS if one.name == name)
    run = import_module(f"benchmarks.{name}").run
    inspect.signature(run).bind(**benchmark.arguments(quick=quick, data=[Path("set")]))


def test_the_page_has_one_place_for_each() -> None:
    from benchmarks.report import README, begin, end
    from benchmarks.table import BENCHMARKS

    page = README.read_text(encoding="utf-8")
    for name in ("machine", "aims", *(benchmark.name for benchmark in BENCHMARKS)):
        assert page.count(begin(name)) == page.count(end(name)) == 1, name
        assert page.index(begin(name)) < page.index(end(name)), name


def test_every_aim_is_of_a_benchmark_that_runs() -> None:
    from benchmarks.table import AIMS, BENCHMARKS

    assert {aim.benchmark for aim in AIMS} <= {benchmark.name for benchmark in BENCHMARKS}
    assert all((aim.most is None) != (aim.least is None) for aim in AIMS)


def test_stored_figures_still_hold_what_the_aims_look_for() -> None:
    from benchmarks.report import RESULTS, found
    from benchmarks.table import AIMS

    runs = json.loads(RESULTS.read_text(encoding="utf-8"))["runs"]
    for aim in AIMS:
        if aim.benchmark in runs:
            assert found(runs[aim.benchmark]["figures"], aim.path) is not None, aim.what


def test_nothing_stored_names_a_folder_or_a_host() -> None:
    import platform

    from benchmarks.report import README, RESULTS

    for text in (RESULTS.read_text(encoding="utf-8"), README.read_text(encoding="utf-8")):
        assert str(ROOT) not in text
        assert str(Path.home()) not in text
        assert "/tmp" not in text
    assert platform.node() not in json.loads(RESULTS.read_text(encoding="utf-8"))["machine"].values()


def test_tables_are_written_between_the_marks_only(tmp_path: Path) -> None:
    from benchmarks import report

    page = tmp_path / "README.md"
    marks = [f"{report.begin(name)}\nSTALE\n{report.end(name)}" for name in ("machine", "aims", "one")]
    page.write_text("before\n" + "\nkept\n".join(marks) + "\nafter\n", encoding="utf-8")
    one = {"date": "2026-01-01", "load_before": 0.5, "load_after": 1.0, "figures": {"a_ms": 1.2345, "a|b": r"\1"}}
    report.write_tables({"machine": {"cores": "2"}, "runs": {"one": one}}, page)
    written = page.read_text(encoding="utf-8")
    assert written.startswith("before\n")
    assert written.endswith("after\n")
    assert written.count("kept") == 2
    assert "STALE" not in written
    assert "| a_ms | 1.23 |" in written
    assert "| a\\|b | \\1 |" in written
    assert "load average 0.5 before, 1 after" in written


def test_a_table_has_no_more_columns_than_a_page_takes() -> None:
    from benchmarks.measuring import MAX_COLUMNS, table

    wide = {"one": {f"figure_{n}": n for n in range(MAX_COLUMNS)}, "two": {"figure_0": 7, "last": 0.5}}
    lines = table(wide).splitlines()
    assert lines[0] == "|  | one | two |"
    assert lines[2] == "| figure_0 | 0 | 7 |"
    assert lines[-1] == "| last |  | 0.5 |"
    assert table({"one": {"a": 1}, "two": {"b": 2}}).splitlines()[2:] == ["| one | 1 |  |", "| two |  | 2 |"]


def test_a_run_without_a_place_on_the_page_is_an_error(tmp_path: Path) -> None:
    from benchmarks import report

    with pytest.raises(KeyError, match="two"):
        report.between("no marks here", "two", "text")


def test_figures_of_another_machine_are_not_mixed_in(tmp_path: Path) -> None:
    from benchmarks import report

    stored = {"machine": {"cores": "2"}, "runs": {"one": {}}}
    report.write_results(stored, tmp_path / "results.json")
    assert report.read_results({"cores": "2"}, tmp_path / "results.json") == stored
    assert report.read_results({"cores": "8"}, tmp_path / "results.json")["runs"] == {}


@pytest.mark.parametrize(
    ("value", "limits", "met"),
    [(3.0, {"most": 3}, True), (3.1, {"most": 3}, False), (0.9, {"least": 0.999}, False), (1, {"least": 0.999}, True)],
)
def test_an_aim_is_a_limit(value: float, limits: dict[str, Any], met: bool) -> None:
    from benchmarks.table import Aim

    assert Aim(what="", benchmark="", path=[], **limits).is_met(value) is met


def numbers(figures: Mapping[str, Any]) -> dict[str, float]:
    """Every number below, by its last name."""
    found: dict[str, float] = {}
    for name, value in figures.items():
        found |= numbers(value) if isinstance(value, Mapping) else {name: value}
    return found


@pytest.mark.parametrize(
    ("name", "ratio"),
    [("pipeline_speed", "ratio_to_plain_calls"), ("stream_speed", "rate_to_queues"), ("edits", "above_three")],
)
def test_a_quick_run_gives_figures(name: str, ratio: str) -> None:
    from benchmarks.running import measure
    from benchmarks.table import BENCHMARKS

    benchmark = next(one for one in BENCHMARKS if one.name == name)
    found = numbers(measure(name, benchmark.arguments(quick=True, data=[])))
    assert found[ratio] >= 0
    assert all(isinstance(value, int | float) for value in found.values())


def test_the_command_runs_what_it_is_told_and_a_quick_run_writes_nothing() -> None:
    before = {path: path.read_bytes() for path in (ROOT / "benchmarks").glob("*.*")}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--quick", "--only", "pipeline_speed"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "## pipeline_speed" in done.stdout
    assert "## edits" not in done.stdout
    assert "ratio_to_plain_calls" in done.stdout
    assert {path: path.read_bytes() for path in before} == before
