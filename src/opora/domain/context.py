"""Context for an application's own answer: what is asked of the retriever, and the pieces of text it gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from opora.domain.errors import InvalidInput
from opora.domain.knowledge import ChunkType, Place
from opora.domain.search import (
    DOOR_MATCH_COUNT,
    MAX_DOOR_MATCH_COUNT,
    MAX_QUERY_CHARS,
    ScoreKind,
    SearchMode,
)

SEMANTIC = "semantic"
FULLTEXT = "fulltext"
FUSED = "rrf"
NEIGHBOUR = "neighbour"
"""The names in a result's ``scores``; the first two are also those in its ``ranks``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextQuery:
    """A question and how to search for it. ``None`` and ``()`` restrict nothing.

    Raises `InvalidInput` naming the field as every door calls it: the question is their ``query``.
    """

    question: str
    search_type: SearchMode = SearchMode.SEMANTIC
    limit: int = DOOR_MATCH_COUNT
    min_similarity: float | None = None
    """The least cosine of a piece that was found by meaning; applied to what ``limit`` has left."""
    base_ids: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    tag_ids: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.question) > MAX_QUERY_CHARS:
            raise InvalidInput.of(
                "query",
                f"The question has {len(self.question):,} characters; {MAX_QUERY_CHARS:,} is the most that is taken.",
            )
        if not 1 <= self.limit <= MAX_DOOR_MATCH_COUNT:
            raise InvalidInput.of("limit", f"A limit is a number from 1 to {MAX_DOOR_MATCH_COUNT}.")
        if self.min_similarity is not None and not -1.0 <= self.min_similarity <= 1.0:
            raise InvalidInput.of("min_similarity", "A similarity is a number from -1 to 1.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextResult:
    """A piece of a document. ``kind`` says what ``score`` is; scores of different kinds can't be compared."""

    chunk_id: str
    base_id: str
    tenant_id: str
    document_id: str
    chunk_index: int
    content: str
    context: str = ""
    """The headings over the content."""
    chunk_type: ChunkType = ChunkType.TEXT
    score: float
    kind: ScoreKind
    scores: Mapping[str, float] = field(default_factory=dict)
    ranks: Mapping[str, int] = field(default_factory=dict)
    """The place, from 1, in each list that has the piece."""
    neighbour_of: str = ""
    """The found piece that this one was added for; '' for a piece that was found itself."""
    linked_to: str = ""
    """The piece beside it that a neighbour's score is its similarity to: the link before it in the chain."""
    file_name: str = ""
    title: str = ""
    source: str = ""
    place: Place = field(default_factory=Place)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    pre_chunk_id: str = ""
    next_chunk_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextAnswer:
    """What was found, best first, each piece followed by the neighbours that were added for it."""

    query: str
    search_type: SearchMode
    results: tuple[ContextResult, ...] = ()
    search_metadata: Mapping[str, Any] = field(default_factory=dict)
    """Of a hybrid search: how many candidates each list gave, and how they were put together."""
    warnings: tuple[str, ...] = ()

    @property
    def results_count(self) -> int:
        """Neighbours count too, so there may be more than ``limit``."""
        return len(self.results)
