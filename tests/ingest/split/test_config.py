from __future__ import annotations

from typing import Any

import pytest

from opora.domain.errors import InvalidInput
from opora.domain.knowledge import ChunkingConfig
from opora.ingest.split import validate_chunking
from opora.ingest.split.config import limits

BAD: list[tuple[dict[str, Any], str]] = [
    ({"size": 100, "overlap": 100}, "overlap"),
    ({"size": 100, "overlap": 150}, "overlap"),
    ({"size": 0, "overlap": 0}, "size"),
    ({"size": -5, "overlap": 0}, "size"),
    ({"size": 100, "overlap": -1}, "overlap"),
    ({"child_size": 0}, "child_size"),
    ({"child_overlap": -1}, "child_overlap"),
    ({"child_size": 50, "child_overlap": 50}, "child_overlap"),
    ({"parent_size": 0}, "parent_size"),
    ({"parent_size": 300, "child_size": 384}, "parent_size"),
    ({"size": 8000}, "size"),
    ({"parent_size": 7501}, "parent_size"),
]


@pytest.mark.parametrize(("sizes", "field"), BAD)
def test_refuses_and_names_the_field(sizes: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        validate_chunking(ChunkingConfig(**sizes))
    assert caught.value.details["field"] == field
    assert caught.value.hint


def test_nothing_is_cut_with_bad_settings(split: Any) -> None:
    with pytest.raises(InvalidInput):
        split("", size=100, overlap=100)


def test_defaults_of_the_specification() -> None:
    config = ChunkingConfig()
    validate_chunking(config)
    assert (config.size, config.overlap) == (512, 80)
    assert (config.parent_size, config.child_size, config.hard_cap) == (4096, 384, 7500)
    assert config.child_overlap == config.child_size // 5


def test_overlap_of_more_than_half_does_not_multiply_the_text() -> None:
    assert limits(100, 99, 7500).overlap == 50
    assert limits(100, 20, 7500).own == 80
