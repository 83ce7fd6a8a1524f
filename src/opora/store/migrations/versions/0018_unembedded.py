"""What a document's search lacks is found without walking over rows that are never searched."""

from __future__ import annotations

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

_BEFORE = ["document_id", "embedded_by", "chunk_index"]
_NOW = ["document_id", "is_searched", "embedded_by", "chunk_index"]


def upgrade() -> None:
    op.drop_index(op.f(f"ix_chunks_{'_'.join(_BEFORE)}"), "chunks")
    op.create_index(op.f(f"ix_chunks_{'_'.join(_NOW)}"), "chunks", _NOW)


def downgrade() -> None:
    op.drop_index(op.f(f"ix_chunks_{'_'.join(_NOW)}"), "chunks")
    op.create_index(op.f(f"ix_chunks_{'_'.join(_BEFORE)}"), "chunks", _BEFORE)
