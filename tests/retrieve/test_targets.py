"""Counts, pools, groups and routing by type of base."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from opora.domain.knowledge import BaseType, KnowledgeBase
from opora.domain.scope import LOCAL_PRINCIPAL, Scope
from opora.domain.search import SearchMode, SearchRequest
from opora.domain.settings import RetrievalSettings
from opora.retrieve.limits import settle
from opora.retrieve.targets import normalised_match_count, plan, pool_size

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def base(base_id: str, **values: Any) -> KnowledgeBase:
    given = {"tenant_id": "default", "name": base_id, "created_at": NOW, "updated_at": NOW} | values
    return KnowledgeBase(base_id=base_id, **given)


@pytest.mark.parametrize(("asked", "taken"), [(0, 50), (-1, 50), (1, 1), (50, 50), (100_000, 100_000)])
def test_a_match_count_at_or_below_zero_means_fifty(asked: int, taken: int) -> None:
    assert normalised_match_count(asked) == taken


@pytest.mark.parametrize(
    ("count", "bases", "pool"),
    [(1, 1, 50), (10, 1, 50), (11, 1, 55), (50, 1, 250), (50, 2, 500), (50, 3, 500), (1, 11, 500), (100_000, 1, 500)],
)
def test_the_pool_is_five_times_the_count_within_bounds(count: int, bases: int, pool: int) -> None:
    assert pool_size(count, bases) == pool


def test_groups_are_by_store_and_owner() -> None:
    bases = [base("a"), base("b", vector_store_id="s"), base("c", tenant_id="other"), base("d")]
    groups = plan(bases, SearchMode.HYBRID, "m").groups
    assert [(g.store_id, g.tenant_id, g.vector_ids) for g in groups] == [
        ("", "default", ("a", "d")),
        ("", "other", ("c",)),
        ("s", "default", ("b",)),
    ]


@pytest.mark.parametrize(
    ("mode", "vectors", "words"),
    [
        (SearchMode.HYBRID, ("doc", "faq"), ("doc",)),
        (SearchMode.SEMANTIC, ("doc", "faq"), ()),
        (SearchMode.FULLTEXT, (), ("doc", "faq")),
    ],
)
def test_faq_bases_are_searched_by_vectors_only(
    mode: SearchMode, vectors: tuple[str, ...], words: tuple[str, ...]
) -> None:
    group = plan([base("doc"), base("faq", base_type=BaseType.FAQ)], mode, "m").groups[0]
    assert (group.vector_ids, group.keyword_ids) == (vectors, words)


def test_without_the_model_of_its_vectors_a_base_is_searched_by_words() -> None:
    other = plan([base("a", embedding_model_id="old"), base("b", embedding_model_id="m")], SearchMode.HYBRID, "m")
    assert (other.groups[0].vector_ids, other.groups[0].keyword_ids) == (("b",), ("a", "b"))
    assert [b.base_id for b in other.without_vectors] == ["a"]
    none = plan([base("f", base_type=BaseType.FAQ)], SearchMode.HYBRID, None)
    assert (none.groups[0].vector_ids, none.groups[0].keyword_ids, none.needs_vector) == ((), ("f",), False)


def limits(scope: Scope, request: SearchRequest, **values: Any) -> tuple[float, float, bool]:
    found = settle(scope, request, RetrievalSettings(**values), bases=1, model_threshold=0.8)
    return found.vector_threshold, found.keyword_threshold, found.threshold_before_fusion


def test_thresholds_come_from_the_request_then_the_settings_then_the_model() -> None:
    scope = Scope(principal=LOCAL_PRINCIPAL)
    assert limits(scope, SearchRequest(query="q")) == (0.8, 0.3, False)
    assert limits(scope, SearchRequest(query="q"), vector_threshold=0.5, keyword_threshold=0.1) == (0.5, 0.1, False)
    asked = SearchRequest(query="q", vector_threshold=0.0, keyword_threshold=0.6)
    assert limits(scope, asked, vector_threshold=0.5) == (0.0, 0.6, True)


def test_picked_documents_and_tags_have_no_recall_threshold() -> None:
    request = SearchRequest(query="q")
    for limit in ({"document_ids": frozenset({"d"})}, {"tag_ids": frozenset({"t"})}):
        assert limits(Scope(principal=LOCAL_PRINCIPAL, **limit), request) == (0.0, 0.0, False)
