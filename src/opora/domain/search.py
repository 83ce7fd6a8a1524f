"""What a search asks for and what it finds: hits of one engine, results with their text, kinds of score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any

from opora.domain.knowledge import ChunkType, Place

MAX_QUERY_CHARS = 10_000
DOCUMENT_DESCRIPTION = "document_description"
"""Where a result's metadata holds what its document is about."""
DEFAULT_MATCH_COUNT = 50
"""What a match count at or below 0 means inside the service."""
MAX_POOL_SIZE = 500
DOOR_MATCH_COUNT = 10
"""What a match count that was left out means at every door (HTTP, MCP, bus, command line)."""
MAX_DOOR_MATCH_COUNT = 50
"""The most results a door gives; a count outside 1 to this is refused, naming the field."""


class MatchType(IntEnum):
    VECTOR = 0
    KEYWORD = 1
    NEIGHBOUR = 2
    HISTORY = 3
    PARENT = 4
    RELATION = 5
    GRAPH = 6
    WEB = 7
    DATA = 9


class ScoreKind(StrEnum):
    """A threshold always names the kind of score that it applies to."""

    COSINE = "cosine"
    BM25 = "bm25"
    TS_RANK = "ts_rank_cd"
    """How much of a question's words a text says, and how often, as PostgreSQL counts it; 0.1 is one word once."""
    NONE = "none"
    RRF = "rrf"
    CONVEX = "convex"
    RERANK = "rerank"
    COMPOSITE = "composite"
    NEIGHBOUR = "neighbour"
    """The cosine of two pieces that stand beside each other, and not of a piece and the question."""


class SearchMode(StrEnum):
    SEMANTIC = "semantic"
    FULLTEXT = "fulltext"
    HYBRID = "hybrid"


class Capability(StrEnum):
    """What an engine can do; the conformance suite skips by capability, never by type."""

    VECTOR = "vector"
    KEYWORD = "keyword"
    KEYWORD_SCORES = "keyword_scores"
    NEGATIVE_COSINE = "negative_cosine"
    """Scores below 0 come back as they are; without it an engine floors them at 0."""
    STEMMING = "stemming"
    FULLTEXT = "fulltext"
    """It is a `FulltextEngine` too: it has a full text search of its own beside that by BM25."""
    STORED_VECTORS = "stored_vectors"
    """It is a `VectorReader` too: the vectors of rows can be had back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRow:
    """One chunk as an engine stores it. ``vector`` is float32 bytes or None when only the keyword side is written."""

    chunk_id: str
    base_id: str
    tenant_id: str
    document_id: str
    text: str
    vector: bytes | None = None
    dimension: int = 0
    chunk_type: ChunkType = ChunkType.TEXT
    enabled: bool = True
    tag_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineHit:
    """One row found by one arm of one engine; ``score`` in the engine's own scale, named by ``kind``."""

    chunk_id: str
    base_id: str
    document_id: str
    score: float
    kind: ScoreKind


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """A chunk found for a question, with its text. Scores of earlier stages stay in ``scores`` by kind."""

    chunk_id: str
    base_id: str
    tenant_id: str
    document_id: str
    content: str
    context: str = ""
    title: str = ""
    file_name: str = ""
    source: str = ""
    chunk_index: int = 0
    chunk_type: ChunkType = ChunkType.TEXT
    parent_chunk_id: str = ""
    pre_chunk_id: str = ""
    next_chunk_id: str = ""
    sub_chunk_ids: tuple[str, ...] = ()
    score: float = 0.0
    kind: ScoreKind = ScoreKind.NONE
    match_type: MatchType = MatchType.VECTOR
    scores: Mapping[str, float] = field(default_factory=dict)
    """Score by stage: ``vector``, ``keyword``, ``fused``, ``base``, ``model``, ``composite``."""
    ranks: Mapping[str, int] = field(default_factory=dict)
    """Rank from 1 by list: ``vector``, ``keyword``, ``fused``, ``ranked``, ``merged``."""
    place: Place = field(default_factory=Place)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    image_info: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """One search over a scope; ``None`` takes the default, a vector threshold of 0 switches the filter off."""

    query: str
    mode: SearchMode = SearchMode.HYBRID
    match_count: int = 0
    vector_threshold: float | None = None
    keyword_threshold: float | None = None
    profile: str = "described"
    asked: str = ""
    """The user's own words where ``query`` is another wording of them: entries silent on either are left out."""
    one_space: bool = False
    """Refuse bases that hold vectors of different models; else the bases of each model are searched by themselves, and
    ``match_count`` holds for each."""
