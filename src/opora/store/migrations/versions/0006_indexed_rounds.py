"""In what form the search engine holds a round."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("messages", sa.Column("indexed_as", sa.Text(), server_default="", nullable=False))


def downgrade() -> None:
    op.drop_column("messages", "indexed_as")
