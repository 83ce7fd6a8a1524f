"""What came of the check of each citation, kept with its answer."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("messages", sa.Column("citations", sa.Text(), server_default="", nullable=False))


def downgrade() -> None:
    op.drop_column("messages", "citations")
