"""``opora eval`` as people and scripts use it: figures, runs, comparisons, limits and their exit code."""

from __future__ import annotations

import json
from pathlib import Path

import ir_measures
import pytest

from opora.cli.eval import GATE_FAILED
from opora.cli.exits import Exit

from .conftest import Opora

DATA = Path(__file__).parents[1] / "evaluate" / "data"
OFFICE, KITCHEN = DATA / "office", DATA / "kitchen"
MEASURES = ["ndcg@10", "mrr@10", "recall@1", "recall@5", "recall@10"]


@pytest.fixture
def evaluate(opora: Opora, tmp_path: Path) -> Opora:
    """``opora eval run`` on the office with vectors that mean nothing."""

    def run(*args: str, **changes: str):
        settings = {"OPORA_EMBEDDING": "null"} | changes
        return opora("eval", "run", "--dataset", str(OFFICE), "--work", str(tmp_path / "work"), *args, **settings)

    return run


def test_figures_for_machines(evaluate: Opora) -> None:
    result = evaluate("--json", "--off-topic", str(KITCHEN))
    assert result.code == Exit.OK, result.err
    seen = result.json
    assert seen["dataset"] == "office"
    assert list(seen["arms"]) == ["vector", "keyword", "hybrid", "convex"]
    assert all(list(of) == MEASURES and all(0 <= of[name] <= 1 for name in of) for of in seen["arms"].values())
    assert set(seen["gate"]["off_topic"]["kitchen"]) == {"questions", "false_answers", "auroc"}
    assert "passed" not in seen


def test_a_table_for_people(evaluate: Opora) -> None:
    result = evaluate("--off-topic", str(KITCHEN))
    assert result.code == Exit.OK
    assert "office: 12 passages, 12 questions" in result.out
    assert "kitchen" in result.out
    assert "gold removed" in result.out
    assert "Asking 12 questions: keyword" in result.err


def test_the_run_is_what_the_figures_are_of(evaluate: Opora, tmp_path: Path) -> None:
    out = tmp_path / "runs" / "one.run"
    seen = evaluate("--json", "--out", str(out)).json
    assert sorted(path.name for path in out.parent.iterdir()) == [
        "one.convex.run",
        "one.keyword.run",
        "one.run",
        "one.vector.run",
    ]
    qrels = [
        ir_measures.Qrel(query, passage, int(gain))
        for query, passage, gain in (line.split("\t") for line in (OFFICE / "qrels.tsv").read_text().splitlines())
    ]
    for arm, path in (("hybrid", out), ("keyword", out.with_name("one.keyword.run"))):
        theirs = ir_measures.calc_aggregate([ir_measures.nDCG @ 10], qrels, ir_measures.read_trec_run(str(path)))
        assert theirs[ir_measures.nDCG @ 10] == pytest.approx(seen["arms"][arm]["ndcg@10"])


def test_a_run_against_an_earlier_one(evaluate: Opora, opora: Opora, tmp_path: Path) -> None:
    one, other = tmp_path / "one.run", tmp_path / "other.run"
    evaluate("--out", str(one))
    worse = {"OPORA_RETRIEVAL": json.dumps({"vector_weight": 1.0, "keyword_weight": 0.0})}
    result = evaluate("--json", "--compare", str(one), "--out", str(other), **worse)
    changes = result.json["changes"]
    assert changes["hybrid"]["ndcg@10"]["mean"] < 0
    assert changes["keyword"]["ndcg@10"] == {"mean": 0.0, "p": 1.0, "low": 0.0, "high": 0.0, "significant": False}
    both = opora("eval", "compare", str(other), str(one), "--dataset", str(OFFICE), "--json")
    assert both.json["changes"]["ndcg@10"] == changes["hybrid"]["ndcg@10"]
    shown = opora("eval", "compare", str(other), str(one), "--dataset", str(OFFICE))
    assert shown.code == Exit.OK
    assert "paired randomisation test" in shown.out


@pytest.mark.parametrize(
    ("limits", "code", "says"),
    [
        ({"minimum": {"keyword": {"recall@10": 0.9}}}, Exit.OK, ""),
        ({"minimum": {"keyword": {"recall@10": 0.9}, "vector": {"recall@1": 1.0}}}, GATE_FAILED, "vector: recall@1"),
        ({"minimum": {"rerank": {"recall@10": 0.9}}}, GATE_FAILED, "rerank was not measured"),
        ({"max_false_answers": 0.1}, GATE_FAILED, "--off-topic"),
        ({"max_drop": {"hybrid": {"recall@1": 0.1}}}, Exit.USAGE, "--compare"),
        ({"minimum": {"hybrid": {"recall@1": 7}}}, Exit.USAGE, "is a share"),
    ],
)
def test_limits_have_an_exit_code_of_their_own(
    evaluate: Opora, tmp_path: Path, limits: dict[str, object], code: int, says: str
) -> None:
    path = tmp_path / "limits.json"
    path.write_text(json.dumps(limits), "utf-8")
    result = evaluate("--json", "--gate", str(path))
    assert result.code == code
    assert says in result.err
    if code in (Exit.OK, GATE_FAILED):
        assert result.json["passed"] is (code == Exit.OK)


def test_the_code_is_no_other_commands() -> None:
    assert GATE_FAILED == 6
    assert GATE_FAILED not in [code.value for code in Exit]


def test_a_drop_beyond_the_limit_fails(evaluate: Opora, tmp_path: Path) -> None:
    one, limits = tmp_path / "one.run", tmp_path / "limits.yaml"
    evaluate("--out", str(one))
    limits.write_text("max_drop:\n  hybrid: {ndcg@10: 0.01}\n", "utf-8")
    same = evaluate("--compare", str(one), "--gate", str(limits))
    assert same.code == Exit.OK
    worse = {"OPORA_RETRIEVAL": json.dumps({"vector_weight": 1.0, "keyword_weight": 0.0})}
    fallen = evaluate("--compare", str(one), "--gate", str(limits), **worse)
    assert fallen.code == GATE_FAILED
    assert "fell by" in fallen.err


def test_a_bad_dataset_is_named_with_its_line(opora: Opora, tmp_path: Path) -> None:
    (tmp_path / "passages.jsonl").write_text('{"id": "a", "text": "b"}\n{"id"\n', "utf-8")
    result = opora("eval", "run", "--dataset", str(tmp_path))
    assert (result.code, result.out) == (Exit.USAGE, "")
    assert "passages.jsonl, line 2" in result.err
    assert opora("eval", "run", "--dataset", str(tmp_path / "nowhere")).code == Exit.USAGE


def test_a_missing_run_is_a_usage_error(evaluate: Opora, tmp_path: Path) -> None:
    result = evaluate("--compare", str(tmp_path / "nowhere.run"))
    assert result.code == Exit.USAGE
    assert "nowhere.run" in result.err
