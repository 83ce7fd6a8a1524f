"""Where a session was forked from, what was chosen for a question, what stood beside it, what its reader thought."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

ADDED = {
    "sessions": ("parent_session_id", "forked_from_message_id", "last_request"),
    "messages": ("beside", "request", "feedback"),
}


def upgrade() -> None:
    for table, columns in ADDED.items():
        for column in columns:
            op.add_column(table, sa.Column(column, sa.Text(), server_default="", nullable=False))


def downgrade() -> None:
    for table, columns in ADDED.items():
        for column in columns:
            op.drop_column(table, column)
