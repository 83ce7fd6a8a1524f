from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import pytest

from opora.domain.knowledge import Block, BlockKind, Chunk, ChunkingConfig, Document, ParsedDocument
from opora.ingest.split import StructureSplitter

Split = Callable[..., list[Chunk]]


@pytest.fixture(scope="session")
def owner() -> Document:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return Document(
        document_id="doc-1",
        base_id="base-1",
        tenant_id="tenant-1",
        title="Reglament",
        file_name="reglament.md",
        file_type="md",
        file_size=1,
        file_hash="0",
        tag_ids=("tag-1",),
        created_at=now,
        updated_at=now,
    )


@pytest.fixture(scope="session")
def split(owner: Document) -> Split:
    """Split a text (one paragraph) or blocks; ``config`` may be given whole or as its fields."""

    def run(source: str | Sequence[Block] | ParsedDocument, **sizes: int | bool) -> list[Chunk]:
        if isinstance(source, str):
            source = [Block(kind=BlockKind.PARAGRAPH, text=source)]
        parsed = source if isinstance(source, ParsedDocument) else ParsedDocument(blocks=tuple(source), file_type="md")
        return StructureSplitter().split(parsed, ChunkingConfig(**sizes), owner=owner)  # type: ignore[arg-type]

    return run
