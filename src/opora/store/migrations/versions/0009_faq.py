"""Entries of FAQ bases, their questions, their imports; question forms found by their owner."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def _id(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.String(length=128), nullable=False)


def _count(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=False)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False)


def _moments() -> list[sa.Column[object]]:
    return [sa.Column(name, sa.DateTime(timezone=True), nullable=False) for name in ("created_at", "updated_at")]


def upgrade() -> None:
    op.create_index(op.f("ix_chunks_parent_chunk_id"), "chunks", ["parent_chunk_id"])
    op.add_column("bases", sa.Column("faq_config", sa.Text(), nullable=False, server_default=""))
    _entries()
    _imports()


def _entries() -> None:
    op.create_table(
        "faq_entries",
        _id("chunk_id"),
        _id("base_id"),
        _count("seq_id"),
        sa.Column("is_recommended", sa.Boolean(), nullable=False),
        _text("text_folded"),
        *_moments(),
        sa.ForeignKeyConstraint(
            ["chunk_id"], ["chunks.chunk_id"], name=op.f("fk_faq_entries_chunk_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("chunk_id", name=op.f("pk_faq_entries")),
    )
    op.create_index("uq_faq_entries_seq", "faq_entries", ["base_id", "seq_id"], unique=True)
    op.create_table(
        "faq_questions",
        _id("base_id"),
        _id("question_hash"),
        _id("chunk_id"),
        sa.ForeignKeyConstraint(
            ["chunk_id"], ["chunks.chunk_id"], name=op.f("fk_faq_questions_chunk_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("base_id", "question_hash", name=op.f("pk_faq_questions")),
    )
    op.create_index(op.f("ix_faq_questions_chunk_id"), "faq_questions", ["chunk_id"])
    op.create_table(
        "faq_sequences",
        _id("base_id"),
        _count("last_seq_id"),
        sa.ForeignKeyConstraint(
            ["base_id"], ["bases.base_id"], name=op.f("fk_faq_sequences_base_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("base_id", name=op.f("pk_faq_sequences")),
    )


def _imports() -> None:
    op.create_table(
        "faq_imports",
        _id("task_id"),
        _id("tenant_id"),
        _id("base_id"),
        sa.Column("mode", sa.String(length=64), nullable=False),
        sa.Column("status", sa.String(length=64), nullable=False),
        _count("total"),
        _count("done"),
        _count("added"),
        _text("problems"),
        _text("error"),
        *_moments(),
        sa.ForeignKeyConstraint(
            ["base_id"], ["bases.base_id"], name=op.f("fk_faq_imports_base_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("task_id", name=op.f("pk_faq_imports")),
    )
    op.create_index(op.f("ix_faq_imports_base_id"), "faq_imports", ["base_id"])
    op.create_table(
        "faq_import_batches",
        _id("task_id"),
        _count("number"),
        _text("rows"),
        sa.ForeignKeyConstraint(
            ["task_id"], ["faq_imports.task_id"], name=op.f("fk_faq_import_batches_task_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("task_id", "number", name=op.f("pk_faq_import_batches")),
    )


def downgrade() -> None:
    for name in ("faq_import_batches", "faq_imports", "faq_sequences", "faq_questions", "faq_entries"):
        op.drop_table(name)
    op.drop_column("bases", "faq_config")
    op.drop_index(op.f("ix_chunks_parent_chunk_id"), table_name="chunks")
