"""Labels and which of them search."""

from __future__ import annotations

import pytest

from opora.domain.question import Intent
from opora.understand.intents import needs_kb_retrieval, needs_retrieval, normalise_intent


@pytest.mark.parametrize(
    ("label", "intent"),
    [
        ("KB-Search", Intent.KB_SEARCH),
        (" kb search ", Intent.KB_SEARCH),
        ("FOLLOW_UP", Intent.FOLLOW_UP),
        ("погода", Intent.UNKNOWN),
        ("", Intent.UNKNOWN),
        (7, Intent.UNKNOWN),
        (None, Intent.UNKNOWN),
    ],
)
def test_labels_are_normalised(label: object, intent: Intent) -> None:
    assert normalise_intent(label) is intent


def test_which_intents_search() -> None:
    searched = {Intent.KB_SEARCH, Intent.CLARIFICATION, Intent.SUMMARIZE, Intent.UNKNOWN}
    assert {intent for intent in Intent if needs_kb_retrieval(intent)} == searched
    assert {i for i in Intent if needs_retrieval(i, web_search_enabled=False)} == searched
    assert {i for i in Intent if needs_retrieval(i, web_search_enabled=True)} == searched | {Intent.WEB_SEARCH}
