"""Russian retrieval and the gate on public questions, where somebody has them: OPORA_EVAL_DATA names their folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from opora.bootstrap.bench import open_bench
from opora.evaluate.dataset import read_dataset, read_queries
from opora.evaluate.evaluation import evaluate
from opora.evaluate.limits import Limits, failures
from opora.settings import Settings

STEMMED_BM25 = 0.952
"""nDCG@10 of BM25 over Snowball stems on the same data."""


@pytest.mark.slow
async def test_russian_questions(large: Path, tmp_path: Path) -> None:
    data = read_dataset(large / "xquad-ru")
    foreign = {"fastapi-ru": list(read_queries(large / "fastapi-ru").values())}
    settings = Settings(data=tmp_path, embedding="local")
    async with open_bench(settings, tmp_path / "work") as bench, bench.arms(data.passages) as arms:
        seen = await evaluate(data, arms, off_topic=foreign)
    least = max(seen.arms["vector"]["ndcg@10"], seen.arms["keyword"]["ndcg@10"])
    limits = Limits(
        minimum={
            "keyword": {"ndcg@10": STEMMED_BM25},
            "hybrid": {"ndcg@10": least},
            "convex": {"ndcg@10": seen.arms["hybrid"]["ndcg@10"]},
        },
        max_false_answers=0.10,
        max_missed_answers=0.05,
    )
    assert failures(limits, seen) == []
