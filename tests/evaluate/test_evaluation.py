"""A whole evaluation over the real database and engine: arms, figures, changes and the gate's mistakes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from opora.bootstrap.bench import Bench, default_work_folder, open_bench
from opora.domain.errors import ModelError
from opora.domain.search import SearchResult
from opora.evaluate.arms import Arms
from opora.evaluate.dataset import Dataset, read_dataset, read_queries
from opora.evaluate.evaluation import evaluate
from opora.evaluate.refusal import judge, measure_refusal
from opora.evaluate.report import as_dict, table
from opora.ports import RerankerCard
from opora.retrieve.gate import OperatingPoint
from opora.settings import Settings


@pytest.fixture
def data(office: Path) -> Dataset:
    return read_dataset(office)


@pytest.fixture
async def bench(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Bench]:
    embedding = getattr(request, "param", "null")
    settings = Settings(data=tmp_path / "data", embedding=embedding)
    async with open_bench(settings, tmp_path / "work") as made:
        yield made


class ById:
    """A reranker that likes passages with a word, or fails."""

    card = RerankerCard(identity="by-word")

    def __init__(self, word: str, *, fails: bool = False) -> None:
        self._word = word
        self._fails = fails

    async def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        if self._fails:
            raise ModelError("the model is down.")
        return [0.9 if self._word in passage else 0.4 for passage in passages]

    async def close(self) -> None: ...


async def test_every_arm_is_measured_and_words_find_the_answers(bench: Bench, data: Dataset) -> None:
    said: list[str] = []
    async with bench.arms(data.passages) as arms:
        seen = await evaluate(data, arms, progress=said.append)
    assert list(seen.arms) == said == ["vector", "keyword", "hybrid", "convex"]
    assert seen.arms["keyword"]["recall@5"] == 1.0
    assert all(0.0 <= value <= 1.0 for of in seen.arms.values() for value in of.values())
    assert seen.arms["vector"]["ndcg@10"] < seen.arms["hybrid"]["ndcg@10"]
    assert set(seen.rankings["hybrid"]) == set(data.queries)
    assert (seen.passages, seen.queries, seen.profile, seen.model) == (12, 12, "described", "null-384")
    assert seen.changes == {}
    assert seen.refusal is None


async def test_the_same_data_gives_the_same_rankings(bench: Bench, data: Dataset) -> None:
    runs = []
    for _ in range(2):
        async with bench.arms(data.passages) as arms:
            runs.append((await evaluate(data, arms)).rankings)
    assert runs[0] == runs[1]


@pytest.mark.parametrize("bench", ["none"], indirect=True)
async def test_without_a_model_there_is_no_vector_arm(bench: Bench, data: Dataset) -> None:
    async with bench.arms(data.passages) as arms:
        seen = await evaluate(data, arms)
    assert list(seen.arms) == ["keyword", "hybrid", "convex"]
    assert seen.model == "words alone"
    assert seen.arms["hybrid"]["recall@1"] == seen.arms["keyword"]["recall@1"]


async def test_nothing_of_the_throw_away_folder_is_left(bench: Bench, data: Dataset, tmp_path: Path) -> None:
    async with bench.arms(data.passages):
        pass
    assert not (tmp_path / "data" / "opora.db").exists()
    assert [path.suffix for path in (tmp_path / "work").iterdir()] == [".bin"]


async def test_the_reranker_has_an_arm_of_its_own(bench: Bench, data: Dataset) -> None:
    one = replace(data, queries={"q01": data.queries["q01"]}, relevant={"q01": {"o02": 1}})
    async with bench.arms(data.passages) as arms:
        judged = replace(arms, reranker=ById("Велосипеды"))
        seen = await evaluate(one, judged)
        assert seen.arms["rerank"]["recall@1"] == 1.0
        assert seen.arms["hybrid"]["recall@1"] == 0.0
        with pytest.raises(ModelError, match="down"):
            await evaluate(one, replace(arms, reranker=ById("", fails=True)))


async def test_an_earlier_run_is_compared_arm_by_arm(bench: Bench, data: Dataset) -> None:
    worse = {query: ["o99"] for query in data.queries}
    async with bench.arms(data.passages) as arms:
        seen = await evaluate(data, arms, earlier={"keyword": worse, "gone": worse})
    assert set(seen.changes) == {"keyword"}
    change = seen.changes["keyword"]["recall@5"]
    assert (change.mean, change.is_significant) == (1.0, True)


@pytest.mark.parametrize("bench", ["none"], indirect=True)
async def test_the_gate_tells_an_office_from_a_kitchen(bench: Bench, data: Dataset, kitchen: Path) -> None:
    async with bench.arms(data.passages) as arms:
        seen = await evaluate(data, arms, off_topic={"kitchen": list(read_queries(kitchen).values())})
    refusal = seen.refusal
    assert refusal is not None
    assert (refusal.answerable, refusal.off_topic["kitchen"].questions, refusal.confidence) == (12, 6, 0.5)
    assert refusal.missed_answers <= 0.25
    assert refusal.off_topic["kitchen"].false_answers <= 1 / 6
    assert refusal.off_topic["kitchen"].auroc > 0.9
    assert refusal.gold_removed.false_answers <= 0.25
    shown = as_dict(seen, ["one"])
    assert shown["gate"]["off_topic"]["kitchen"]["questions"] == 6
    assert (shown["passed"], shown["failures"]) == (False, ["one"])
    assert any("kitchen" in line for line in table(seen))


@pytest.mark.parametrize("bench", ["none"], indirect=True)
@pytest.mark.parametrize(("point", "missed"), [(0.0, 0.0), (1.0, 1.0)])
async def test_the_operating_point_is_a_setting(bench: Bench, data: Dataset, point: float, missed: float) -> None:
    async with bench.arms(data.passages) as arms:
        values = replace(arms.settings.values, answer_confidence=point)
        moved: Arms = replace(arms, settings=replace(arms.settings, values=values))
        assert (await measure_refusal(moved, data, {})).missed_answers == missed


def test_an_empty_list_is_never_an_answer() -> None:
    none: list[SearchResult] = []
    assert judge("?", none, OperatingPoint()) == judge("?", none, OperatingPoint(model_floor=0.7))
    assert not judge("?", none, OperatingPoint()).passes


def test_vectors_are_kept_in_the_cache_of_the_user() -> None:
    assert default_work_folder().name == "eval"
