"""What the benchmarks share: percentiles, running on the loop of the service, printing a table."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeVar

T = TypeVar("T")
Figures = Mapping[str, Any]

MAX_COLUMNS = 8
"""A table with more is turned: a row a figure."""


def p50(values: Sequence[float]) -> float:
    return statistics.median(values)


def p95(values: Sequence[float]) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * 0.95))]


def run_as_served(work: Coroutine[Any, Any, T]) -> T:
    """Run on the event loop that `opora serve` takes."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run(work)
    return uvloop.run(work)


def shown(value: object) -> str:
    """A figure with four digits; larger whole numbers as they are."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.3g}"


def table(figures: Figures) -> str:
    """Markdown: a row a figure; where figures hold figures a row each of them, or a column each when they are many."""
    if not figures or not all(isinstance(value, Mapping) for value in figures.values()):
        return _lines(["figure", "value"], [[name, shown(value)] for name, value in figures.items()])
    columns = list(dict.fromkeys(name for row in figures.values() for name in row))
    if len(columns) > max(MAX_COLUMNS, len(figures)):
        turned = [[name, *(shown(row.get(name, "")) for row in figures.values())] for name in columns]
        return _lines(["", *map(str, figures)], turned)
    rows = [[str(key), *(shown(row.get(name, "")) for name in columns)] for key, row in figures.items()]
    return _lines(["", *columns], rows)


def _lines(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
