"""Runs in TREC's format: what is written is read back in the same order, by us and by others."""

from __future__ import annotations

from pathlib import Path

import ir_measures
import numpy as np
import pytest

from opora.domain.errors import InvalidInput
from opora.evaluate.runs import path_of, read_arms, read_run, write_run

TIED = {"q1": [("z", 0.5), ("a", 0.5), ("m", 0.5), ("b", 0.25)], "q2": [("a", 1e-9), ("b", 0.0), ("c", -0.5)], "q3": []}


def test_ties_keep_their_order_for_every_reader(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "one.run"
    write_run(path, TIED, "opora-hybrid")
    assert read_run(path) == {"q1": ["z", "a", "m", "b"], "q2": ["a", "b", "c"]}
    rows = list(ir_measures.read_trec_run(str(path)))
    first = [row for row in rows if row.query_id == "q1"]
    assert [row.doc_id for row in sorted(first, key=lambda row: -np.float32(row.score))] == ["z", "a", "m", "b"]
    assert len({np.float32(row.score) for row in first}) == len(first)
    assert path.read_text("utf-8").splitlines()[0] == "q1 Q0 z 1 0.5 opora-hybrid"
    assert [entry.name for entry in path.parent.iterdir()] == ["one.run"]


def test_arms_lie_beside_each_other(tmp_path: Path) -> None:
    main = tmp_path / "one.run"
    assert path_of(main, "hybrid") == main
    assert path_of(main, "vector").name == "one.vector.run"
    assert path_of(tmp_path / "one", "vector").name == "one.vector"
    for arm in ("hybrid", "keyword"):
        write_run(path_of(main, arm), {"q1": [(arm, 1.0)]}, arm)
    assert read_arms(main, ["vector", "keyword", "hybrid"]) == {
        "hybrid": {"q1": ["hybrid"]},
        "keyword": {"q1": ["keyword"]},
    }


def test_the_score_decides_before_the_rank(tmp_path: Path) -> None:
    path = tmp_path / "other.run"
    path.write_text("q1\tQ0\tlow\t1\t1.5\tx\n\nq1 Q0 high 2 2 x\nq1 Q0 same 9 1.5 x\n", "utf-8")
    assert read_run(path) == {"q1": ["high", "low", "same"]}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("q1 Q0 a 1 1.0 x\nq1 Q0 a 1.0 x\n", "line 2: .*six fields"),
        ("q1 Q0 a one 1.0 x\n", "line 1: .*no number"),
        ("q1 Q0 a 1 nan x\n", "line 1: .*finite"),
        ("q1 Q0 a 1 2 x\nq1 Q0 a 2 1 x\n", "'q1' has a passage twice"),
        (None, "can't be read"),
    ],
)
def test_a_run_that_does_not_fit_is_refused(tmp_path: Path, text: str | None, says: str) -> None:
    path = tmp_path / "bad.run"
    if text is not None:
        path.write_text(text, "utf-8")
    with pytest.raises(InvalidInput, match=says):
        read_run(path)


def test_a_place_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(InvalidInput, match="can't be written"):
        write_run(tmp_path / "file" / "one.run", TIED, "x")
