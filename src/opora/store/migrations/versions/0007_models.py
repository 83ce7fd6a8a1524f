"""The registry of models, and their sealed keys."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "models",
        sa.Column("model_id", sa.String(length=128), nullable=False),
        sa.Column("tenant_id", sa.String(length=128), nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("provider", sa.String(length=64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("base_url", sa.Text(), nullable=False),
        sa.Column("options", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("model_id", name=op.f("pk_models")),
    )
    op.create_index(op.f("ix_models_tenant_id_created_at"), "models", ["tenant_id", "created_at"])
    op.create_table(
        "model_keys",
        sa.Column("model_id", sa.String(length=128), nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["model_id"], ["models.model_id"], name=op.f("fk_model_keys_model_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("model_id", name=op.f("pk_model_keys")),
    )


def downgrade() -> None:
    op.drop_table("model_keys")
    op.drop_table("models")
