"""A graph of entities and relations beside the chunks that speak of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_ENDS = ("source_key", "target_key")


def upgrade() -> None:
    op.create_table(
        "graph_entities",
        sa.Column("chunk_id", sa.String(length=128), nullable=False),
        sa.Column("key", sa.String(length=128), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["chunk_id"], ["chunks.chunk_id"], name=op.f("fk_graph_entities_chunk_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("chunk_id", "key", name=op.f("pk_graph_entities")),
    )
    op.create_index(op.f("ix_graph_entities_key"), "graph_entities", ["key"])
    op.create_table(
        "graph_relations",
        sa.Column("chunk_id", sa.String(length=128), nullable=False),
        sa.Column("source_key", sa.String(length=128), nullable=False),
        sa.Column("target_key", sa.String(length=128), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["chunk_id"], ["chunks.chunk_id"], name=op.f("fk_graph_relations_chunk_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("chunk_id", *_ENDS, name=op.f("pk_graph_relations")),
    )
    for end in _ENDS:
        op.create_index(op.f(f"ix_graph_relations_{end}"), "graph_relations", [end])


def downgrade() -> None:
    op.drop_table("graph_relations")
    op.drop_table("graph_entities")
