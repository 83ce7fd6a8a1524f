"""The tokeniser gives the numbers that the model was trained with."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.models.e5_build import E5Files, find_weights
from opora.models.e5_tokeniser import E5Tokeniser
from opora.models.e5_weights import E5Weights

RECORDED = Path(__file__).parent / "files" / "e5_token_ids.jsonl"
"""Numbers from another implementation, the `tokenizers` library over the same vocabulary."""


@pytest.fixture(scope="module")
def tokeniser(e5_files: E5Files) -> E5Tokeniser:
    return E5Tokeniser(e5_files.tokeniser, E5Weights(find_weights()).replacements())


def test_the_numbers_are_those_of_the_reference(tokeniser: E5Tokeniser) -> None:
    rows = [json.loads(line) for line in RECORDED.read_text().splitlines()]
    assert len(rows) > 60
    got = tokeniser.encode([row["text"] for row in rows])
    assert {row["text"]: ids for row, ids in zip(rows, got, strict=True)} == {row["text"]: row["ids"] for row in rows}


def test_marks_of_the_model_in_a_text_stay_text(tokeniser: E5Tokeniser) -> None:
    (ids,) = tokeniser.encode(["<s> </s> <pad> <unk> <mask>"])
    assert not {0, 1, 2} & set(ids)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_encoded(tokeniser: E5Tokeniser, text: str) -> None:
    (ids,) = tokeniser.encode([text])
    assert all(2 < number < 250_002 for number in ids)


@pytest.mark.parametrize("text", ["\x00", "\ud800", "a\x00b\udfffc", "\ufdfa" * 1000, "x" * 100_000])
def test_hostile_text_is_encoded(tokeniser: E5Tokeniser, text: str) -> None:
    assert len(tokeniser.encode([text])) == 1


def test_nothing_behind_a_nul_is_lost(tokeniser: E5Tokeniser) -> None:
    cut, whole = tokeniser.encode(["начало", "начало\x00конец"])
    assert len(whole) > len(cut)
    assert tokeniser.encode(["начало конец"]) == [whole]
