"""``python -m benchmarks [--only NAME] [--quick] [--data FOLDER]``: run the benchmarks of the table, in order.

The results go into ``results.json`` and into the tables of ``README.md``; a quick run is for trying out and is not
written anywhere.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import machine, report
from benchmarks.measuring import table
from benchmarks.running import run_one
from benchmarks.table import BENCHMARKS


def data_folders(folder: Path | None) -> list[Path]:
    """Those below ``folder`` that hold questions with their right answers."""
    return [] if folder is None else sorted(path.parent for path in folder.glob("*/qrels.tsv"))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = [benchmark.name for benchmark in BENCHMARKS]
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help=f"one of: {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="small sizes, for trying out; nothing is written")
    parser.add_argument("--data", type=Path, help="folder with sets of questions, for the benchmarks of quality")
    options = parser.parse_args(arguments)
    data = data_folders(options.data)
    results = report.read_results(machine.facts())
    failed = []
    for benchmark in BENCHMARKS:
        if options.only and benchmark.name not in options.only:
            continue
        if benchmark.folders and not data:
            print(f"\n## {benchmark.name}: left out, as --data names no sets of questions", flush=True)
            continue
        print(f"\n## {benchmark.name}", flush=True)
        try:
            one = run_one(benchmark.name, benchmark.arguments(quick=options.quick, data=data))
        except Exception as error:
            # The others are still worth measuring; the exit code tells.
            failed.append(benchmark.name)
            print(f"{benchmark.name} failed: {error}", file=sys.stderr, flush=True)
            continue
        print(f"load {one['load_before']:g} to {one['load_after']:g}\n\n{table(one['figures'])}", flush=True)
        results["runs"][benchmark.name] = one
        if not options.quick:
            report.write_results(results)
            report.write_tables(results)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
