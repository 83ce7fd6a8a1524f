"""Runs one benchmark in a process of its own, so that none inherits the memory or the threads of another."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

from benchmarks import machine


def measure(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of one module, as they look in JSON."""
    figures: dict[str, Any] = json.loads(json.dumps(import_module(f"benchmarks.{name}").run(**arguments)))
    return figures


def run_one(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The figures with the day and what else the machine had to do."""
    before = machine.load()
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        figures = pool.submit(measure, name, arguments).result()
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "load_before": before,
        "load_after": machine.load(),
        "figures": figures,
    }
