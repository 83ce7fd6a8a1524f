"""What a chat model may add to a base's documents, and how far it has come with each."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("bases", sa.Column("enrichment", sa.Text(), server_default="", nullable=False))
    op.create_table(
        "enrichments",
        sa.Column("document_id", sa.String(length=128), nullable=False),
        sa.Column("base_id", sa.String(length=128), nullable=False),
        sa.Column("tenant_id", sa.String(length=128), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("done", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["documents.document_id"],
            name=op.f("fk_enrichments_document_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("document_id", name=op.f("pk_enrichments")),
    )
    op.create_index(op.f("ix_enrichments_base_id"), "enrichments", ["base_id"])


def downgrade() -> None:
    op.drop_table("enrichments")
    op.drop_column("bases", "enrichment")
