"""Keeps the results as JSON and writes their tables between the marks of `README.md`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measuring import shown, table
from benchmarks.table import AIMS, Aim

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
README = HERE / "README.md"
Results = dict[str, Any]


def begin(name: str) -> str:
    return f"<!-- figures: {name} -->"


def end(name: str) -> str:
    return f"<!-- end: {name} -->"


def read_results(machine: Mapping[str, str], path: Path = RESULTS) -> Results:
    """What was measured before on a machine like this one; figures of another machine are not mixed in."""
    empty: Results = {"machine": dict(machine), "runs": {}}
    if not path.exists():
        return empty
    stored: Results = json.loads(path.read_text(encoding="utf-8"))
    return stored if stored["machine"] == machine else empty


def write_results(results: Results, path: Path = RESULTS) -> None:
    path.write_text(json.dumps(results, ensure_ascii=False, indent=1, sort_keys=False) + "\n", encoding="utf-8")


def write_tables(results: Results, path: Path = README) -> None:
    """Replace what stands between the marks. Raises `KeyError` when the page has no marks for a run."""
    page = path.read_text(encoding="utf-8")
    page = between(page, "machine", table(results["machine"]))
    page = between(page, "aims", aims(results, AIMS))
    for name, one in results["runs"].items():
        page = between(page, name, section(one))
    path.write_text(page, encoding="utf-8")


def between(page: str, name: str, text: str) -> str:
    pattern = re.compile(f"{re.escape(begin(name))}.*?{re.escape(end(name))}", re.DOTALL)
    replaced, count = pattern.subn(lambda _: f"{begin(name)}\n{text}\n{end(name)}", page)
    if count != 1:
        raise KeyError(f"README.md has {count} places for the figures of '{name}'")
    return replaced


def section(one: Mapping[str, Any]) -> str:
    """When and under what load, and the figures."""
    when = f"Measured on {one['date']}; load average {one['load_before']:g} before, {one['load_after']:g} after."
    return f"{when}\n\n{table(one['figures'])}"


def aims(results: Results, wanted: Sequence[Aim]) -> str:
    """Each aim with the figure it is held against and the load under which that was taken."""
    rows: dict[str, Mapping[str, str]] = {}
    for aim in wanted:
        one = results["runs"].get(aim.benchmark)
        value = found(one["figures"], aim.path) if one else None
        measured = "not measured" if value is None else f"{shown(value)} {aim.unit}".strip()
        rows[aim.what] = {
            "aim": aim.wanted(),
            "measured": measured,
            "met": "" if value is None else "yes" if aim.is_met(value) else "no",
            "load": "" if one is None else f"{max(one['load_before'], one['load_after']):g}",
        }
    return table(rows)


def found(figures: Mapping[str, Any], path: Sequence[str]) -> float | None:
    value: Any = figures
    for name in path:
        if not isinstance(value, Mapping) or name not in value:
            return None
        value = value[name]
    return float(value)
