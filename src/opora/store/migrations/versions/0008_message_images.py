"""The pictures that come with questions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "message_images",
        sa.Column("message_id", sa.String(length=128), nullable=False),
        sa.Column("image_id", sa.String(length=128), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("media_type", sa.String(length=64), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["message_id"], ["messages.message_id"], name=op.f("fk_message_images_message_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("message_id", "image_id", name=op.f("pk_message_images")),
    )


def downgrade() -> None:
    op.drop_table("message_images")
