"""Numbers that the guides tell in their sentences are those of the code."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from opora.api.envelope import MAX_PAGE_SIZE
from opora.chat.settings import _COUNTS
from opora.domain.knowledge import CHILD_CHUNK_SIZE, CHUNK_HARD_CAP, CHUNK_OVERLAP, CHUNK_SIZE, PARENT_CHUNK_SIZE
from opora.domain.search import DOOR_MATCH_COUNT, MAX_DOOR_MATCH_COUNT, MatchType
from opora.ingest.parse.md import STRUCTURE_CHARS
from opora.jobs.runner import Retries
from opora.models.extractive import MAX_QUOTES

WORDS = {3: "three", 8: "eight"}


@pytest.mark.parametrize(
    ("guide", "sentence"),
    [
        ("documents", f"{CHUNK_SIZE} characters with {CHUNK_OVERLAP} of overlap"),
        ("documents", f"longer than {CHUNK_HARD_CAP:,} characters"),
        ("documents", f"children of {CHILD_CHUNK_SIZE} characters"),
        ("documents", f"parents of up to {PARENT_CHUNK_SIZE:,}"),
        ("documents", f"more than {STRUCTURE_CHARS:,} characters"),
        ("documents", f"also after {WORDS[Retries().attempts]} tries"),
        ("operations", f"after {WORDS[Retries().attempts]} times"),
        ("answers", f"up to {WORDS[MAX_QUOTES]} sentences or table rows"),
        ("api", f"`match_count` ({DOOR_MATCH_COUNT}; 1 to {MAX_DOOR_MATCH_COUNT})"),
        ("api", f"`page_size` (20, at most {MAX_PAGE_SIZE})"),
        ("api", f"`match_type` is {MatchType.VECTOR:d} for a hit by meaning, {MatchType.KEYWORD:d} by words"),
        ("api", f"{MatchType.NEIGHBOUR:d} for a neighbour, {MatchType.HISTORY:d} from the history"),
        ("api", f"{MatchType.PARENT:d} for a parent"),
        *(("settings", f"1 to {most:,}") for most in _COUNTS.values()),
    ],
)
def test_the_guide_tells_the_number_of_the_code(guide: str, sentence: str, text: Callable[[str], str]) -> None:
    assert sentence in text(f"docs/{guide}.md")
