"""How fast the SQLite engine searches, beside an exact NumPy scan: ``python -m benchmarks.search_speed``.

Vectors are random, words come from a made-up vocabulary with the long tail of a natural language. Nothing but the
engine is measured: no embedding, no hydration.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import numpy as np

from benchmarks.made_up import DIMENSION, Matrix, texts, units
from opora.domain.scope import LOCAL_PRINCIPAL, BaseRef, Scope
from opora.domain.search import IndexRow
from opora.engines.sqlite import SqliteEngine

TOP_K = 50
QUERIES = 40
SMALL_SHARE = 50
"""The small base holds one row of so many."""


def _scope(*base_ids: str) -> Scope:
    return Scope(
        principal=LOCAL_PRINCIPAL,
        bases=tuple(BaseRef(base_id=b, tenant_id=LOCAL_PRINCIPAL.tenant_id) for b in base_ids),
    )


async def _fill(engine: SqliteEngine, base_id: str, vectors: Matrix, contents: list[str]) -> float:
    begun = time.perf_counter()
    for start in range(0, len(contents), 1000):
        rows = [
            IndexRow(
                chunk_id=f"{base_id}-{i:07}",
                base_id=base_id,
                tenant_id=LOCAL_PRINCIPAL.tenant_id,
                document_id=f"{base_id}-{i // 50}",
                text=contents[i],
                vector=vectors[i].tobytes(),
                dimension=DIMENSION,
            )
            for i in range(start, min(start + 1000, len(contents)))
        ]
        await engine.write(_scope(base_id), rows)
    return time.perf_counter() - begun


def _top(scores: Matrix) -> list[int]:
    top = np.argpartition(scores, scores.size - TOP_K)[-TOP_K:]
    return [int(i) for i in top[np.argsort(-scores[top])]]


async def _p50(call: Callable[[int], Awaitable[object]]) -> float:
    times = []
    for i in range(QUERIES):
        begun = time.perf_counter()
        await call(i)
        times.append((time.perf_counter() - begun) * 1000)
    return statistics.median(times)


async def measure(rows: int, *, segment_bytes: int = 256 * 1024 * 1024) -> dict[str, float]:
    """Figures for a base of ``rows`` and one of a fiftieth beside it; times are p50 in milliseconds."""
    rng = np.random.default_rng(7)
    whole, small = units(rng, rows), units(rng, rows // SMALL_SHARE)
    queries, asked = units(rng, QUERIES), texts(rng, QUERIES, words=6)
    with tempfile.TemporaryDirectory(prefix="opora-bench-") as folder:
        engine = SqliteEngine(Path(folder) / "index.db", segment_bytes=segment_bytes)
        fill = await _fill(engine, "whole", whole, texts(rng, rows))
        await _fill(engine, "small", small, texts(rng, len(small)))

        async def vector(i: int, base_id: str = "whole") -> list[int]:
            hits = await engine.search_vector(_scope(base_id), queries[i], top_k=TOP_K, threshold=0.0)
            return [int(hit.chunk_id.rpartition("-")[2]) for hit in hits]

        async def scan(i: int) -> list[int]:
            return _top(np.vecdot(whole, queries[i]))

        async def scan_by_blas(i: int) -> list[int]:
            return _top(whole @ queries[i])

        begun = time.perf_counter()
        await vector(0)
        cold = (time.perf_counter() - begun) * 1000
        await vector(0, "small")
        found = [len(set((await vector(i))[:10]) & set((await scan(i))[:10])) / 10 for i in range(QUERIES)]
        by_row, by_blas, engine_p50 = await _p50(scan), await _p50(scan_by_blas), await _p50(vector)
        exact = min(by_row, by_blas)  # BLAS is faster on idle processors and far slower on busy ones
        figures = {
            "rows": float(rows),
            "fill_rows_per_s": rows / fill,
            "numpy_ms": by_row,
            "numpy_blas_ms": by_blas,
            "cold_ms": cold,
            "whole_ms": engine_p50,
            "whole_ratio": engine_p50 / exact,
            "small_ms": await _p50(lambda i: vector(i, "small")),
            "keyword_ms": await _p50(lambda i: engine.search_keyword(_scope("whole"), asked[i], top_k=TOP_K)),
            "keyword_small_ms": await _p50(lambda i: engine.search_keyword(_scope("small"), asked[i], top_k=TOP_K)),
            "recall_at_10": statistics.mean(found),
            "bytes_per_row": await engine.storage_bytes(_scope("whole"), "whole") / rows,
        }
        await engine.close()
    return figures


def run(sizes: list[int], *, segment_bytes: int = 256 * 1024 * 1024) -> dict[int, dict[str, float]]:
    """Measure each size and print a table."""
    results = {rows: asyncio.run(measure(rows, segment_bytes=segment_bytes)) for rows in sizes}
    names = list(next(iter(results.values())))
    print("| " + " | ".join(names) + " |\n|" + "---|" * len(names))
    for figures in results.values():
        print("| " + " | ".join(f"{figures[name]:.4g}" for name in names) + " |")
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="10000,100000", help="sizes, separated by commas")
    parser.add_argument("--segment-mb", type=int, default=256, help="memory for hot bases")
    arguments = parser.parse_args()
    run([int(rows) for rows in arguments.rows.split(",")], segment_bytes=arguments.segment_mb * 1024 * 1024)


if __name__ == "__main__":
    main()
