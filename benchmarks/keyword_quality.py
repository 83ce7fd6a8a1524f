"""How well the engine's keyword arm ranks: ``python -m benchmarks.keyword_quality --dataset FOLDER ...``.

A folder holds passages.jsonl (id, title, text), queries.jsonl (id, text) and qrels.tsv (query id, passage id, 1).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import tempfile
from collections import defaultdict
from pathlib import Path

from opora.domain.scope import LOCAL_PRINCIPAL, BaseRef, Scope
from opora.domain.search import IndexRow
from opora.engines.sqlite import SqliteEngine

TOP_K = 10
_TENANT = LOCAL_PRINCIPAL.tenant_id
_SCOPE = Scope(principal=LOCAL_PRINCIPAL, bases=(BaseRef(base_id="eval", tenant_id=_TENANT),))


def _lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _relevant(path: Path) -> dict[str, set[str]]:
    relevant: dict[str, set[str]] = defaultdict(set)
    for line in path.read_text(encoding="utf-8").splitlines():
        query_id, passage_id, _ = line.split("\t")
        relevant[query_id].add(passage_id)
    return relevant


def _ndcg(found: list[str], relevant: set[str]) -> float:
    gain = sum(1 / math.log2(rank + 2) for rank, passage_id in enumerate(found) if passage_id in relevant)
    return gain / sum(1 / math.log2(rank + 2) for rank in range(min(TOP_K, len(relevant))))


async def measure(folder: Path) -> dict[str, float]:
    """R@1 and nDCG@10, times 100, of the keyword arm alone."""
    relevant = _relevant(folder / "qrels.tsv")
    rows = [
        IndexRow(
            chunk_id=passage["id"],
            base_id="eval",
            tenant_id=_TENANT,
            document_id=passage["id"],
            text=f"{passage.get('title') or ''}\n{passage['text']}",
        )
        for passage in _lines(folder / "passages.jsonl")
    ]
    queries = _lines(folder / "queries.jsonl")
    first, ndcg = 0.0, 0.0
    with tempfile.TemporaryDirectory(prefix="opora-bench-") as place:
        engine = SqliteEngine(Path(place) / "index.db")
        await engine.write(_SCOPE, rows)
        for query in queries:
            hits = await engine.search_keyword(_SCOPE, query["text"], top_k=TOP_K)
            found = [hit.chunk_id for hit in hits]
            first += bool(found) and found[0] in relevant[query["id"]]
            ndcg += _ndcg(found, relevant[query["id"]])
        await engine.close()
    return {"r1": 100 * first / len(queries), "ndcg10": 100 * ndcg / len(queries)}


def run(folders: list[Path]) -> dict[str, dict[str, float]]:
    """Measure each folder and print a table."""
    results = {}
    print("| set | R@1 | nDCG@10 |\n|---|---|---|")
    for folder in folders:
        figures = results[folder.name] = asyncio.run(measure(folder))
        print(f"| {folder.name} | {figures['r1']:.1f} | {figures['ndcg10']:.1f} |", flush=True)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", type=Path, nargs="+", required=True, help="folders with data")
    run(parser.parse_args().dataset)


if __name__ == "__main__":
    main()
