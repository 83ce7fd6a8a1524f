"""Passages to put in a prompt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from opora.domain.search import SearchResult


@pytest.fixture
def result_of() -> Callable[..., SearchResult]:
    def make(chunk_id: str, content: str = "", score: float = 0.5, **values: Any) -> SearchResult:
        given = {
            "base_id": "kb",
            "tenant_id": "t",
            "document_id": f"doc-{chunk_id}",
            "title": f"Title {chunk_id}",
        } | values
        return SearchResult(chunk_id=chunk_id, content=content or f"text of {chunk_id}", score=score, **given)

    return make
