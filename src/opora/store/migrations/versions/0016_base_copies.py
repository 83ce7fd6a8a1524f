"""Copies of knowledge bases and their progress; states of chunks tell their headings, so that a copy finds them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "base_copies",
        sa.Column("task_id", sa.String(length=128), nullable=False),
        sa.Column("tenant_id", sa.String(length=128), nullable=False),
        sa.Column("source_id", sa.String(length=128), nullable=False),
        sa.Column("target_id", sa.String(length=128), nullable=False),
        sa.Column("status", sa.String(length=64), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("done", sa.BigInteger(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("task_id", name=op.f("pk_base_copies")),
    )
    op.create_index(op.f("ix_base_copies_target_id"), "base_copies", ["target_id"])
    op.add_column("chunk_revisions", sa.Column("context", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("chunk_revisions", "context")
    op.drop_table("base_copies")
