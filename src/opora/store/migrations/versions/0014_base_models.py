"""Bases that are embedded by a model of the registry, and the size of such a model's vectors."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("bases", sa.Column("own_model_id", sa.Text(), nullable=False, server_default=""))
    op.add_column("models", sa.Column("dimension", sa.BigInteger(), nullable=False, server_default="0"))


def downgrade() -> None:
    op.drop_column("models", "dimension")
    op.drop_column("bases", "own_model_id")
