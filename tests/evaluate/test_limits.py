"""The file of limits: what it may hold, and which figures miss it."""

from __future__ import annotations

from pathlib import Path

import pytest

from opora.domain.errors import InvalidInput
from opora.evaluate.evaluation import Evaluation
from opora.evaluate.limits import Limits, failures, read_limits
from opora.evaluate.refusal import OffTopic, Refusal
from opora.evaluate.significance import Difference

FIGURES = {"ndcg@10": 0.9, "mrr@10": 0.8, "recall@1": 0.7, "recall@5": 0.95, "recall@10": 0.97}
REFUSAL = Refusal(
    confidence=0.5,
    answerable=100,
    missed_answers=0.04,
    off_topic={
        "near": OffTopic(questions=50, false_answers=0.08, auroc=0.98),
        "far": OffTopic(questions=50, false_answers=0.01, auroc=0.99),
    },
    gold_removed=OffTopic(questions=100, false_answers=0.4, auroc=0.9),
)
SEEN = Evaluation(
    dataset="set",
    passages=10,
    queries=100,
    profile="described",
    model="m",
    arms={"hybrid": FIGURES, "keyword": FIGURES},
    changes={"hybrid": {name: Difference(mean=-0.01, p=0.03, low=-0.02, high=0.0) for name in FIGURES}},
    refusal=REFUSAL,
)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "limits.yaml"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        "minimum:\n  hybrid: {ndcg@10: 0.5}\nmax_drop:\n  hybrid:\n    recall@5: 0.01\nmax_false_answers: 0.1\n",
        '{"minimum": {"hybrid": {"ndcg@10": 0.5}}, "max_drop": {"hybrid": {"recall@5": 1e-2}},'
        ' "max_false_answers": 0.1}',
    ],
)
def test_yaml_and_json(tmp_path: Path, text: str) -> None:
    assert read_limits(written(tmp_path, text)) == Limits(
        minimum={"hybrid": {"ndcg@10": 0.5}}, max_drop={"hybrid": {"recall@5": 0.01}}, max_false_answers=0.1
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("minimum: {hybrid: {ndcg@10: 0.5}\n", "neither YAML nor JSON, line"),
        ("", "must set one of minimum"),
        ("- 1\n", "must set one of minimum"),
        ("least: 1\n", "no limit 'least'"),
        ("minimum: {fusion: {ndcg@10: 0.5}}\n", "no arm 'fusion'"),
        ("minimum: {hybrid: {ndcg@5: 0.5}}\n", "no measure 'ndcg@5'"),
        ("minimum: {hybrid: 0.5}\n", "holds arms"),
        ("minimum: {hybrid: {ndcg@10: 95}}\n", "'minimum.hybrid.ndcg@10' is a share"),
        ("max_missed_answers: yes\n", "'max_missed_answers' is a share"),
        ("max_drop: {hybrid: {ndcg@10: .nan}}\n", "is a share"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says) as caught:
        read_limits(written(tmp_path, text))
    assert "limits.yaml" in caught.value.message


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="can't be read"):
        read_limits(tmp_path / "nowhere.yaml")


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        (Limits(minimum={"hybrid": {"ndcg@10": 0.9, "recall@1": 0.7}}), ""),
        (Limits(minimum={"hybrid": {"ndcg@10": 0.9001}}), "hybrid: ndcg@10 is 0.9000, below 0.9001."),
        (Limits(minimum={"rerank": {"ndcg@10": 0.1}}), "rerank was not measured; ndcg@10 0.1000 is asked for."),
        (Limits(max_drop={"hybrid": {"ndcg@10": 0.01}}), ""),
        (
            Limits(max_drop={"hybrid": {"mrr@10": 0.005}}),
            "hybrid: mrr@10 fell by 0.0100, more than 0.0050 (p = 0.030).",
        ),
        (
            Limits(max_drop={"keyword": {"mrr@10": 0.5}}),
            "keyword: mrr@10 can't be compared; the earlier run lacks this arm.",
        ),
        (Limits(max_false_answers=0.08, max_missed_answers=0.04), ""),
        (Limits(max_false_answers=0.05), "8.0% of the questions of near pass, more than 5.0%."),
        (Limits(max_missed_answers=0.03), "4.0% of the answerable questions are refused, more than 3.0%."),
    ],
)
def test_what_is_missed_is_said(limits: Limits, says: str) -> None:
    assert failures(limits, SEEN) == ([says] if says else [])


def test_what_was_not_measured_is_missed() -> None:
    bare = Evaluation(dataset="set", passages=1, queries=1, profile="described", model="m", arms={})
    (sentence,) = failures(Limits(max_false_answers=1.0), bare)
    assert "--off-topic" in sentence
    assert failures(Limits(), bare) == []
