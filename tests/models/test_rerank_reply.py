"""Replies of reranking services, those that fit and those that do not."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.domain.errors import ModelError
from opora.models.rerank_reply import are_logits, logistic, read_scores, within_unit


@pytest.mark.parametrize(
    "reply",
    [
        {"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}], "meta": {}},
        {"results": [{"index": 1, "document": {"text": "b"}, "relevance_score": 0.9}, {"index": 0, "score": 0.1}]},
        [{"index": 1, "score": 0.9}, {"index": 0, "score": 0.1, "text": "a"}],
    ],
)
def test_scores_are_placed_by_their_index(reply: object) -> None:
    assert read_scores(json.dumps(reply).encode(), 2) == [0.1, 0.9]


@pytest.mark.parametrize(
    "reply",
    [
        b"<html>login</html>",
        b"[" * 100_000,
        b"null",
        b'{"error": "x"}',
        b'{"results": null}',
        b'["a", "b"]',
        b'[{"index": 0, "score": 0.1}]',
        b'[{"index": 0, "score": 0.1}, {"index": 0, "score": 0.2}]',
        b'[{"index": 0, "score": 0.1}, {"index": 2, "score": 0.2}]',
        b'[{"index": 0, "score": 0.1}, {"index": -1, "score": 0.2}]',
        b'[{"index": 0, "score": 0.1}, {"index": true, "score": 0.2}]',
        b'[{"index": 0, "score": 0.1}, {"index": "1", "score": 0.2}]',
        b'[{"score": 0.1}, {"score": 0.2}]',
        b'[{"index": 0, "score": 0.1}, {"index": 1}]',
        b'[{"index": 0, "score": 0.1}, {"index": 1, "score": null}]',
        b'[{"index": 0, "score": 0.1}, {"index": 1, "score": "0.2"}]',
        b'[{"index": 0, "score": 0.1}, {"index": 1, "score": true}]',
        b'[{"index": 0, "score": 0.1}, {"index": 1, "score": NaN}]',
        b'[{"index": 0, "score": 0.1}, {"index": 1, "score": -Infinity}]',
        b'[{"index": 0, "score": 0.1}, {"index": 1, "score": 1' + b"0" * 400 + b"}]",
        b'[{"index": 0, "score": 1}, {"index": 1, "score": 1}, {"index": 2, "score": 1}]',
    ],
)
def test_a_reply_that_does_not_fit_is_refused(reply: bytes) -> None:
    with pytest.raises(ModelError) as caught:
        read_scores(reply, 2)
    assert "OPORA_RERANK_STYLE" in caught.value.hint


def test_no_passages_no_scores() -> None:
    assert read_scores(b'{"results": []}', 0) == []


@settings(max_examples=60)
@given(st.lists(st.floats(-50, 50), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_the_order_of_the_reply_does_not_matter(scores: list[float], random) -> None:
    items = [{"index": place, "relevance_score": score} for place, score in enumerate(scores)]
    random.shuffle(items)
    assert read_scores(json.dumps({"results": items}).encode(), len(scores)) == scores


@settings(max_examples=80)
@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_the_logistic_keeps_the_order_and_the_scale(a: float, b: float) -> None:
    low, high = sorted((a, b))
    assert 0.0 <= logistic(low) <= logistic(high) <= 1.0
    assert logistic(low) + logistic(-low) == pytest.approx(1.0)


def test_the_logistic_has_its_known_values() -> None:
    assert logistic(0.0) == 0.5
    assert logistic(2.0) == pytest.approx(1 / (1 + math.exp(-2.0)))
    assert logistic(-1000.0) == 0.0


@pytest.mark.parametrize(
    ("scores", "verdict"),
    [([0.0, 1.0], False), ([-1.0, 0.4], False), ([1.2, 0.4], True), ([-3.0], True), ([1.0000001], False), ([], False)],
)
def test_what_lies_beyond_one_is_a_logit(scores: list[float], verdict: bool) -> None:
    assert are_logits(scores) is verdict


def test_a_promise_of_zero_to_one_is_held_to() -> None:
    assert within_unit([0.0, 1.0000001, -0.0000001, 0.3]) == [0.0, 1.0, 0.0, 0.3]
    for score in (1.01, -0.01):
        with pytest.raises(ModelError, match="between 0 and 1"):
            within_unit([0.5, score])
