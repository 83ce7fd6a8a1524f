"""What the settings of a knowledge base may be, and which of them stay as they were made."""

from __future__ import annotations

from dataclasses import dataclass

from opora.domain.enrichment import MAX_QUESTION_COUNT, EnrichmentConfig
from opora.domain.errors import Conflict, InvalidInput
from opora.domain.knowledge import BaseType, ChunkingConfig, FaqConfig, IndexingStrategy, KnowledgeBase
from opora.ingest.split.config import validate_chunking

MIN_CHUNK_SIZE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """What is settled when a base is made. Clients that send the whole base back send it too; None is 'not sent'."""

    base_type: BaseType | None = None
    vector_store_id: str | None = None
    faq: FaqConfig | None = None

    def check(self, base: KnowledgeBase, default_store: str) -> None:
        if self.base_type not in (None, base.base_type):
            raise _settled("type", "What a base holds depends on its type.")
        there = (base.vector_store_id or default_store, base.vector_store_id)
        if self.vector_store_id is not None and self.vector_store_id not in there:
            raise _settled("vector_store_id", "The rows of a base stay in the store where they were written.")
        if self.faq not in (None, base.faq):
            raise _settled("faq_config", "The entries that are there were indexed in the other way.")


def _settled(field: str, reason: str) -> Conflict:
    return Conflict(
        f"{field} is settled when a base is made. {reason}",
        hint="Make another knowledge base with it, and bring the content in there.",
        details={"field": field},
    )


def checked_enrichment(config: EnrichmentConfig) -> EnrichmentConfig:
    if not 1 <= config.question_count <= MAX_QUESTION_COUNT:
        raise InvalidInput.of("question_count", f"A chunk gets from 1 to {MAX_QUESTION_COUNT} questions.")
    if config.token_budget < 0:
        raise InvalidInput.of("token_budget", "A budget is not negative.", hint="0 is no limit.")
    return config


def checked_chunking(config: ChunkingConfig) -> ChunkingConfig:
    validate_chunking(config)
    for field in ("size", "child_size"):
        if getattr(config, field) < MIN_CHUNK_SIZE:
            raise InvalidInput.of(field, f"A chunk of fewer than {MIN_CHUNK_SIZE} characters says nothing by itself.")
    return config


def checked_indexing(indexing: IndexingStrategy) -> IndexingStrategy:
    if not (indexing.vector or indexing.keyword):
        hint = "Switch on vector or keyword search, or both."
        raise InvalidInput.of("indexing", "A knowledge base without any search finds nothing.", hint=hint)
    return indexing
