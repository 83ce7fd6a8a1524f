"""Folders and origins of documents, what processing did, and what work aims at."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("documents", sa.Column("folder", sa.Text(), nullable=False, server_default=""))
    op.add_column("documents", sa.Column("origin", sa.String(length=64), nullable=False, server_default="file"))
    op.add_column("documents", sa.Column("file_metadata", sa.Text(), nullable=False, server_default=""))
    op.add_column("work", sa.Column("aim", sa.Text(), nullable=False, server_default=""))
    op.create_table(
        "document_steps",
        sa.Column("step_id", sa.String(length=128), nullable=False),
        sa.Column("document_id", sa.String(length=128), nullable=False),
        sa.Column("base_id", sa.String(length=128), nullable=False),
        sa.Column("tenant_id", sa.String(length=128), nullable=False),
        sa.Column("attempt", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("microseconds", sa.BigInteger(), nullable=False),
        sa.Column("counts", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["documents.document_id"],
            name=op.f("fk_document_steps_document_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("step_id", name=op.f("pk_document_steps")),
    )
    op.create_index(op.f("ix_document_steps_document_id_attempt"), "document_steps", ["document_id", "attempt"])


def downgrade() -> None:
    op.drop_table("document_steps")
    op.drop_column("work", "aim")
    op.drop_column("documents", "file_metadata")
    op.drop_column("documents", "origin")
    op.drop_column("documents", "folder")
