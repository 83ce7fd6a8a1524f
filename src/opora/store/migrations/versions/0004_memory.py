"""What people asked to be remembered, and whether it is used."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "memory_items",
        sa.Column("item_id", sa.String(length=128), nullable=False),
        sa.Column("tenant_id", sa.String(length=128), nullable=False),
        sa.Column("user_id", sa.String(length=128), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("is_always", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("item_id", name=op.f("pk_memory_items")),
    )
    op.create_index(
        op.f("ix_memory_items_tenant_id_user_id_created_at"), "memory_items", ["tenant_id", "user_id", "created_at"]
    )
    op.create_table(
        "memory_settings",
        sa.Column("tenant_id", sa.String(length=128), nullable=False),
        sa.Column("user_id", sa.String(length=128), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "user_id", name=op.f("pk_memory_settings")),
    )


def downgrade() -> None:
    op.drop_table("memory_settings")
    op.drop_table("memory_items")
