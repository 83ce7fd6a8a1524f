"""Every candidate's way through the stages."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

from opora.domain.question import Draft
from opora.domain.search import ScoreKind, SearchResult
from opora.domain.trace import Drop
from opora.pipeline.trace import candidates, plain, stages_of


def result(chunk_id: str, score: float, **changes: object) -> SearchResult:
    base = SearchResult(
        chunk_id=chunk_id, base_id="kb", tenant_id="default", document_id="d", content=chunk_id, score=score
    )
    return replace(base, **changes)


def test_marks_and_reasons() -> None:
    a = result("a", 0.9, kind=ScoreKind.RRF, ranks={"vector": 1, "keyword": 2}, scores={"vector": 0.8, "keyword": 7.0})
    b, c = result("b", 0.5), result("c", 0.4)
    found = candidates(
        [("found", [a, b, c]), ("ranked", [b, a]), ("merged", [b])],
        [
            Drop(chunk_id="c", stage="rank", reason="not_diverse"),
            Drop(chunk_id="a", stage="merge", reason="merged", detail="into b"),
            Drop(chunk_id="z", stage="retrieve", reason="below_threshold"),
            Drop(chunk_id="z", stage="rank", reason="over_top_k"),
            Drop(chunk_id="b", stage="merge", reason="duplicate"),
        ],
    )
    assert [c.chunk_id for c in found] == ["b", "a", "c", "z"]
    by_id = {c.chunk_id: c for c in found}
    assert [(m.stage, m.rank, m.score) for m in by_id["a"].marks] == [
        ("vector", 1, 0.8),
        ("keyword", 2, 7.0),
        ("found", 1, 0.9),
        ("ranked", 2, 0.9),
    ]
    assert (by_id["a"].dropped_at, by_id["a"].reason, by_id["a"].detail) == ("merge", "merged", "into b")
    assert by_id["z"].reason == "below_threshold", "the first reason is the true one"
    assert by_id["b"].reason == "", "a survivor was not dropped, whatever a stage said of its twin"


def test_the_same_input_gives_the_same_trace() -> None:
    lists = [("found", [result(str(n), 1 / (n + 1)) for n in range(50)])]
    assert candidates(lists, ()) == candidates(lists, ())


def test_when_nothing_was_found_every_candidate_says_why(draft: Draft) -> None:
    found = result("a", 0.9)
    gone = replace(
        draft, found=(found,), nothing_found=True, drops=(Drop(chunk_id="a", stage="gate", reason="below_floor"),)
    )
    assert candidates(stages_of(gone), gone.drops)[0].reason == "below_floor"


def test_a_candidate_in_json_has_every_field() -> None:
    a = result("a", 0.9, ranks={"vector": 1}, scores={"vector": 0.8}, title="T", chunk_index=3)
    drop = Drop(chunk_id="a", stage="merge", reason="merged", detail="into b")
    for candidate in candidates([("found", [a]), ("ranked", [])], [drop]):
        assert json.dumps(plain(candidate)) == json.dumps(asdict(candidate))
