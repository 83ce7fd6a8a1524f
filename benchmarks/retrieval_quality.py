"""How well each arm ranks and how often the gate errs: ``python -m benchmarks.retrieval_quality --dataset FOLDER ...``.

Folders are those that ``opora eval run`` takes. Beside the arms stands an exact search over the same vectors. The gate
is asked the questions of every other folder whose name ends in the same language (``-ru``).
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.measuring import table
from opora.bootstrap.bench import Bench, default_work_folder, open_bench
from opora.evaluate.dataset import Dataset, read_dataset
from opora.evaluate.evaluation import evaluate
from opora.evaluate.measures import by_query, means
from opora.settings import Settings

DEPTH = 50
WORST = "worst"


async def exact(bench: Bench, data: Dataset) -> dict[str, float]:
    """The figures of all cosines, computed in the plainest way."""
    assert bench.embedder is not None
    texts = [f"{one.title}\n{one.text}" if one.title else one.text for one in data.passages]
    passages = await bench.embedder.embed_passages(texts)
    queries = await bench.embedder.embed_queries(list(data.queries.values()))
    best = np.argsort(-(queries @ passages.T), axis=1, kind="stable")[:, :DEPTH]
    rankings = {
        query_id: [data.passages[place].passage_id for place in row]
        for query_id, row in zip(data.queries, best, strict=True)
    }
    return means(by_query(rankings, data.relevant))


async def measure(bench: Bench, data: Dataset, others: Sequence[Dataset]) -> dict[str, float]:
    """Figures of one set, times 100."""
    foreign = {other.name: tuple(other.queries.values()) for other in others}
    async with bench.arms(data.passages) as arms:
        seen = await evaluate(data, arms, off_topic=foreign)
    assert seen.refusal is not None
    plain = await exact(bench, data)
    figures = {"exact_ndcg10": plain["ndcg@10"]}
    figures |= {f"{arm}_ndcg10": of["ndcg@10"] for arm, of in seen.arms.items()}
    for arm in ("hybrid", "convex"):
        figures |= {f"{arm}_r1": seen.arms[arm]["recall@1"], f"{arm}_r10": seen.arms[arm]["recall@10"]}
    figures["gate_missed"] = seen.refusal.missed_answers
    if seen.refusal.off_topic:
        figures["gate_false"] = max(of.false_answers for of in seen.refusal.off_topic.values())
        figures["gate_auroc"] = min(of.auroc for of in seen.refusal.off_topic.values())
    figures["gate_false_gold_removed"] = seen.refusal.gold_removed.false_answers
    return {name: 100.0 * value for name, value in figures.items()}


def worst(results: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """What the aims are held against, over all sets."""
    sets = results.values()
    better = [max(of["vector_ndcg10"], of["keyword_ndcg10"]) for of in sets]
    figures = {
        "vector_less_exact": min(of["vector_ndcg10"] - of["exact_ndcg10"] for of in sets),
        "gate_missed": max(of["gate_missed"] for of in sets),
    }
    for arm in ("hybrid", "convex"):
        gaps = [of[f"{arm}_ndcg10"] - arms for of, arms in zip(sets, better, strict=True)]
        figures[f"{arm}_less_better_arm"] = min(gaps)
    asked = [of for of in sets if "gate_false" in of]
    if asked:
        figures["gate_false"] = max(of["gate_false"] for of in asked)
        figures["gate_auroc"] = min(of["gate_auroc"] for of in asked)
    return figures


async def measure_all(folders: Sequence[Path], work: Path | None) -> dict[str, dict[str, float]]:
    sets = [read_dataset(folder) for folder in folders]
    results: dict[str, dict[str, float]] = {}
    work = work or default_work_folder()
    async with open_bench(Settings(data=work), work) as bench:
        for data in sets:
            language = data.name.rpartition("-")[2]
            others = [one for one in sets if one.name != data.name and one.name.rpartition("-")[2] == language]
            results[data.name] = await measure(bench, data, others)
    return results | {WORST: worst(results)}


def run(folders: Sequence[Path], work: Path | None = None) -> dict[str, dict[str, float]]:
    """Figures times 100 by set, and the worst of them; ``work`` keeps model and vectors, else the user's cache does."""
    return asyncio.run(measure_all(folders, work))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", type=Path, nargs="+", required=True, help="folders with data")
    parser.add_argument("--work", type=Path, help="folder that keeps vectors")
    options = parser.parse_args()
    print(table(run(options.dataset, options.work)))


if __name__ == "__main__":
    main()
