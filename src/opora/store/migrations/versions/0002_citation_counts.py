"""How often each caller's answers cited a document."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "citation_counts",
        sa.Column("tenant_id", sa.String(length=128), nullable=False),
        sa.Column("user_id", sa.String(length=128), nullable=False),
        sa.Column("document_id", sa.String(length=128), nullable=False),
        sa.Column("uses", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"], ["documents.document_id"], name=op.f("fk_citation_counts_document_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "user_id", "document_id", name=op.f("pk_citation_counts")),
    )
    op.create_index(op.f("ix_citation_counts_document_id"), "citation_counts", ["document_id"], unique=False)


def downgrade() -> None:
    op.drop_table("citation_counts")
