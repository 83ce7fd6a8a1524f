"""Our measures against ir-measures, which counts as trec_eval does, and against values worked out by hand."""

from __future__ import annotations

from math import log2

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.evaluate.measures import MEASURES, auroc, by_query, means, ndcg, recall, reciprocal_rank

THEIRS = {
    "ndcg@10": ir_measures.nDCG @ 10,
    "mrr@10": ir_measures.RR @ 10,
    "recall@1": ir_measures.R @ 1,
    "recall@5": ir_measures.R @ 5,
    "recall@10": ir_measures.R @ 10,
}
PASSAGES = [f"p{number}" for number in range(20)]
GAINS = st.dictionaries(st.sampled_from(PASSAGES), st.integers(1, 3), min_size=1, max_size=12)
RANKINGS = st.lists(st.sampled_from(PASSAGES), unique=True, max_size=20)


@settings(max_examples=80, deadline=None)
@given(relevant=st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), GAINS, min_size=1), data=st.data())
def test_figures_are_those_of_ir_measures(relevant: dict[str, dict[str, int]], data: st.DataObject) -> None:
    # A question that found nothing at all is missing in the run: there the libraries differ, we count it as 0.
    rankings = {query: data.draw(RANKINGS.filter(len)) for query in relevant}
    qrels = [ir_measures.Qrel(q, p, gain) for q, gains in relevant.items() for p, gain in gains.items()]
    run = [ir_measures.ScoredDoc(q, p, -float(rank)) for q, found in rankings.items() for rank, p in enumerate(found)]
    theirs = ir_measures.calc_aggregate(list(THEIRS.values()), qrels, run)
    ours = means(by_query(rankings, relevant))
    assert set(ours) == set(THEIRS) == set(MEASURES)
    for name, measure in THEIRS.items():
        assert ours[name] == pytest.approx(theirs[measure], abs=1e-9), name


@pytest.mark.parametrize(
    ("ranking", "expected"),
    [(["a"], 1.0), (["x", "a"], 1 / log2(3)), (["x"] * 10 + ["a"], 0.0), ([], 0.0)],
)
def test_ndcg_of_one_answer(ranking: list[str], expected: float) -> None:
    assert ndcg(ranking, {"a": 1}) == pytest.approx(expected)


def test_values_by_hand() -> None:
    gains = {"a": 2, "b": 1}
    assert ndcg(["b", "a"], gains) == pytest.approx((1 + 2 / log2(3)) / (2 + 1 / log2(3)))
    assert reciprocal_rank(["x", "b", "a"], gains) == 0.5
    assert reciprocal_rank(["x"] * 10 + ["a"], gains) == 0.0
    assert recall(["a", "x", "b"], gains, 1) == recall(["a", "x", "b"], gains, 2) == 0.5
    assert recall(["a", "x", "b"], gains, 3) == 1.0
    assert ndcg(["a"], {}) == recall(["a"], {}, 1) == 0.0


def test_a_question_without_results_counts_as_nought() -> None:
    assert means(by_query({"q1": ["a"]}, {"q1": {"a": 1}, "q2": {"b": 1}})) == dict.fromkeys(MEASURES, 0.5)
    assert means({"ndcg@10": {}}) == {"ndcg@10": 0.0}


@given(st.lists(st.integers(0, 6), max_size=12), st.lists(st.integers(0, 6), max_size=12))
def test_auroc_is_the_share_of_pairs_in_order(positive: list[int], negative: list[int]) -> None:
    pairs = [(p > n) + 0.5 * (p == n) for p in positive for n in negative]
    expected = sum(pairs) / len(pairs) if pairs else 0.5
    assert auroc(positive, negative) == pytest.approx(expected)
