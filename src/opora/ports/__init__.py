"""The promises that rooms ask for; bootstrap puts the implementations behind them.

Every call that touches stored data takes the frozen `Scope` that `opora.access` made. A driver's error is wrapped in
an `OporaError` inside its own file; an outage is never an empty result.
"""

from __future__ import annotations

from opora.ports.conversation import (
    CitationRepository,
    ImageRepository,
    MemoryRepository,
    MessageRepository,
    RoundRepository,
    SessionRepository,
)
from opora.ports.database import AgentRepository, Database, ModelRepository, Repositories, WorkRepository
from opora.ports.documents import Blobs, Numbered, Parser, Splitter
from opora.ports.engines import FulltextEngine, SearchEngine, VectorReader
from opora.ports.faq import FaqRepository
from opora.ports.jobs import Jobs, Progress
from opora.ports.knowledge import BaseRepository, ChunkRepository, DocumentRepository
from opora.ports.models import (
    ChatDelta,
    ChatMessage,
    ChatModel,
    ChatOptions,
    Embedder,
    EmbedderCard,
    Embedders,
    ExtractiveAnswerer,
    QuestionVector,
    Reranker,
    RerankerCard,
    Secrets,
    Vectoriser,
)
from opora.ports.outside import EntityGraph, PageReader, TableAnalyst, WebPage, WebSearcher
from opora.ports.streams import StreamLog
from opora.ports.values import Clock, Listed, NewId, Page, Vectors

__all__ = [
    "AgentRepository",
    "BaseRepository",
    "Blobs",
    "ChatDelta",
    "ChatMessage",
    "ChatModel",
    "ChatOptions",
    "ChunkRepository",
    "CitationRepository",
    "Clock",
    "Database",
    "DocumentRepository",
    "Embedder",
    "EmbedderCard",
    "Embedders",
    "EnrichmentRepository",
    "EntityGraph",
    "ExtractiveAnswerer",
    "FaqRepository",
    "FulltextEngine",
    "ImageRepository",
    "Jobs",
    "Listed",
    "MemoryRepository",
    "MessageRepository",
    "ModelRepository",
    "NewId",
    "Numbered",
    "Page",
    "PageReader",
    "Parser",
    "Progress",
    "QuestionVector",
    "Repositories",
    "Reranker",
    "RerankerCard",
    "RevisionRepository",
    "RoundRepository",
    "SearchEngine",
    "Secrets",
    "SessionRepository",
    "Splitter",
    "StreamLog",
    "TableAnalyst",
    "TagRepository",
    "VectorReader",
    "Vectoriser",
    "Vectors",
    "WebPage",
    "WebSearcher",
    "WorkRepository",
]
