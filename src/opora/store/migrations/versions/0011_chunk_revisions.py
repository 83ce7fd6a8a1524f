"""The states of chunks that people edited."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "chunk_revisions",
        sa.Column("lineage_id", sa.String(length=128), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("chunk_id", sa.String(length=128), nullable=False),
        sa.Column("document_id", sa.String(length=128), nullable=False),
        sa.Column("base_id", sa.String(length=128), nullable=False),
        sa.Column("tenant_id", sa.String(length=128), nullable=False),
        sa.Column("origin", sa.String(length=64), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("author", sa.String(length=128), nullable=False),
        sa.Column("after", sa.String(length=128), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["documents.document_id"],
            name=op.f("fk_chunk_revisions_document_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("lineage_id", "revision", name=op.f("pk_chunk_revisions")),
    )
    op.create_index(op.f("ix_chunk_revisions_chunk_id"), "chunk_revisions", ["chunk_id"])
    op.create_index(op.f("ix_chunk_revisions_document_id"), "chunk_revisions", ["document_id"])


def downgrade() -> None:
    op.drop_table("chunk_revisions")
