"""Replies fit into what the broker takes, whole results at a time, and say what they leave out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opora.bus.messages import CUT, read_reply, read_request, write_error, write_reply
from opora.domain.errors import InvalidInput, NotFound, Unavailable


@given(st.lists(st.text(max_size=60), max_size=12), st.integers(min_value=150, max_value=1_000))
def test_a_reply_is_never_larger_and_never_half_a_result(texts: list[str], most: int) -> None:
    results = [{"content": text} for text in texts]
    reply = write_reply({"query": "q", "results_count": len(results), "results": results}, most)
    assert len(reply) <= max(most, 400)
    body = json.loads(reply)
    if "error" in body:
        assert (body["error"]["name"], body["error"]["details"]["max_payload"]) == ("payload_too_large", most)
        return
    clean = json.loads(json.dumps(results, ensure_ascii=False).encode("utf-8", "replace"))
    assert body["results"] == clean[: len(body["results"])]
    assert body["results_count"] == len(body["results"])
    assert body.get(CUT, 0) == len(results) - len(body["results"])


def test_as_many_results_as_fit_are_kept() -> None:
    results = [{"content": "я" * 100} for _ in range(50)]
    body = json.loads(write_reply({"results_count": 50, "results": results}, 5_000))
    assert (len(body["results"]), body[CUT]) == (23, 27)


def test_what_has_no_results_and_does_not_fit_is_a_coded_error() -> None:
    body = json.loads(write_reply({"vector": [0.1] * 1_000}, 1_000))
    assert body["error"]["name"] == "payload_too_large"


@pytest.mark.parametrize("payload", [b"\xff{", b"", b"[]", b"null", b"[" * 5_000, "текст".encode()])
def test_a_request_that_is_no_object_is_named(payload: bytes) -> None:
    with pytest.raises(InvalidInput):
        read_request(payload)


@pytest.mark.parametrize(
    ("error", "name"),
    [(InvalidInput.of("limit", "no"), "invalid_input"), (NotFound("gone"), "not_found"), (ValueError("x"), "internal")],
)
def test_every_failure_has_a_name_and_no_secret(error: Exception, name: str) -> None:
    told = json.loads(write_error(error))["error"]
    assert told["name"] == name
    assert told["message"]
    with pytest.raises(Unavailable):
        read_reply(write_error(error))


@pytest.mark.parametrize("payload", [b"", b"[]", b"\xff", b'{"error": {}}'])
def test_a_reply_that_is_none_is_a_failure(payload: bytes) -> None:
    with pytest.raises(Unavailable):
        read_reply(payload)


def test_a_reply_is_read_as_it_was_written() -> None:
    body: dict[str, Any] = {"query": "проезд", "results": [{"content": "возмещают"}]}
    assert read_reply(write_reply(body, 10_000)) == body
