"""Results to rank."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from opora.domain.search import ScoreKind, SearchResult


@pytest.fixture
def result_of() -> Callable[..., SearchResult]:
    def make(chunk_id: str, score: float = 0.5, **values: Any) -> SearchResult:
        given = {
            "base_id": "kb",
            "tenant_id": "t",
            "document_id": f"doc-{chunk_id}",
            "content": f"text of {chunk_id}",
            "kind": ScoreKind.RRF,
        } | values
        return SearchResult(chunk_id=chunk_id, score=score, **given)

    return make
