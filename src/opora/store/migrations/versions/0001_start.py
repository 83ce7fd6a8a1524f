"""The first schema: bases, documents, chunks, sessions, messages, work, facts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _bases()
    _facts()
    _sessions()
    _strays()
    _work()
    _documents()
    _messages()
    _chunks()


def downgrade() -> None:
    op.drop_table("chunks")
    op.drop_table("messages")
    op.drop_table("documents")
    op.drop_table("work")
    op.drop_table("strays")
    op.drop_table("sessions")
    op.drop_table("facts")
    op.drop_table("bases")


def _bases() -> None:
    op.create_table(
        "bases",
        sa.Column("base_id", sa.String(length=128), nullable=False),
        sa.Column("tenant_id", sa.String(length=128), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("name_folded", sa.Text(), nullable=False),
        sa.Column("base_type", sa.String(length=64), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("chunking", sa.Text(), nullable=False),
        sa.Column("indexing", sa.Text(), nullable=False),
        sa.Column("embedding_model_id", sa.Text(), nullable=False),
        sa.Column("vector_store_id", sa.Text(), nullable=False),
        sa.Column("is_pinned", sa.Boolean(), nullable=False),
        sa.Column("is_hidden", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("base_id", name=op.f("pk_bases")),
    )
    op.create_index(op.f("ix_bases_tenant_id_updated_at"), "bases", ["tenant_id", "updated_at"], unique=False)


def _facts() -> None:
    op.create_table(
        "facts",
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_facts")),
    )


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("session_id", sa.String(length=128), nullable=False),
        sa.Column("tenant_id", sa.String(length=128), nullable=False),
        sa.Column("user_id", sa.String(length=128), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("is_pinned", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("session_id", name=op.f("pk_sessions")),
    )
    op.create_index(
        op.f("ix_sessions_tenant_id_user_id_updated_at"),
        "sessions",
        ["tenant_id", "user_id", "updated_at"],
        unique=False,
    )


def _strays() -> None:
    op.create_table(
        "strays",
        sa.Column("chunk_id", sa.String(length=128), nullable=False),
        sa.Column("base_id", sa.String(length=128), nullable=False),
        sa.Column("tenant_id", sa.String(length=128), nullable=False),
        sa.Column("document_id", sa.String(length=128), nullable=False),
        sa.PrimaryKeyConstraint("chunk_id", name=op.f("pk_strays")),
    )
    op.create_index(op.f("ix_strays_base_id"), "strays", ["base_id"], unique=False)
    op.create_index(op.f("ix_strays_document_id"), "strays", ["document_id"], unique=False)


def _work() -> None:
    op.create_table(
        "work",
        sa.Column("work_id", sa.String(length=128), nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("tenant_id", sa.String(length=128), nullable=False),
        sa.Column("base_id", sa.String(length=128), nullable=False),
        sa.Column("subject", sa.String(length=128), nullable=False),
        sa.Column("attempts", sa.BigInteger(), nullable=False),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lease_owner", sa.String(length=128), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("work_id", name=op.f("pk_work")),
    )
    op.create_index(op.f("ix_work_base_id"), "work", ["base_id"], unique=False)
    op.create_index(op.f("ix_work_created_at"), "work", ["created_at"], unique=False)
    op.create_index(op.f("ix_work_subject"), "work", ["subject"], unique=False)
    op.create_index(
        "uq_work_waiting",
        "work",
        ["kind", "subject"],
        unique=True,
        sqlite_where=sa.text("lease_owner = ''"),
        postgresql_where=sa.text("lease_owner = ''"),
    )


def _documents() -> None:
    op.create_table(
        "documents",
        sa.Column("document_id", sa.String(length=128), nullable=False),
        sa.Column("base_id", sa.String(length=128), nullable=False),
        sa.Column("tenant_id", sa.String(length=128), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("file_name", sa.Text(), nullable=False),
        sa.Column("name_folded", sa.Text(), nullable=False),
        sa.Column("file_type", sa.Text(), nullable=False),
        sa.Column("file_size", sa.BigInteger(), nullable=False),
        sa.Column("file_hash", sa.String(length=128), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("parse_status", sa.String(length=64), nullable=False),
        sa.Column("error_reason", sa.String(length=64), nullable=False),
        sa.Column("error_message", sa.Text(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.Column("tag_ids", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("indexed_version", sa.BigInteger(), nullable=False),
        sa.Column("chunk_count", sa.BigInteger(), nullable=False),
        sa.Column("embedded_count", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["base_id"], ["bases.base_id"], name=op.f("fk_documents_base_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("document_id", name=op.f("pk_documents")),
    )
    op.create_index(op.f("ix_documents_base_id_created_at"), "documents", ["base_id", "created_at"], unique=False)
    op.create_index(op.f("ix_documents_base_id_source"), "documents", ["base_id", "source"], unique=False)
    op.create_index(
        "uq_documents_same_bytes",
        "documents",
        ["base_id", "file_hash"],
        unique=True,
        sqlite_where=sa.text("parse_status <> 'deleting'"),
        postgresql_where=sa.text("parse_status <> 'deleting'"),
    )


def _messages() -> None:
    op.create_table(
        "messages",
        sa.Column("message_id", sa.String(length=128), nullable=False),
        sa.Column("session_id", sa.String(length=128), nullable=False),
        sa.Column("tenant_id", sa.String(length=128), nullable=False),
        sa.Column("request_id", sa.String(length=128), nullable=False),
        sa.Column("role", sa.String(length=64), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("rendered_content", sa.Text(), nullable=False),
        sa.Column("reference_list", sa.Text(), nullable=False),
        sa.Column("is_completed", sa.Boolean(), nullable=False),
        sa.Column("finish", sa.String(length=64), nullable=False),
        sa.Column("error_message", sa.Text(), nullable=False),
        sa.Column("trace", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.session_id"], name=op.f("fk_messages_session_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("message_id", name=op.f("pk_messages")),
    )
    op.create_index(op.f("ix_messages_session_id_created_at"), "messages", ["session_id", "created_at"], unique=False)
    op.create_index(
        "ix_messages_unfinished",
        "messages",
        ["created_at"],
        unique=False,
        sqlite_where=sa.text("NOT is_completed"),
        postgresql_where=sa.text("NOT is_completed"),
    )


def _chunks() -> None:
    op.create_table(
        "chunks",
        sa.Column("chunk_id", sa.String(length=128), nullable=False),
        sa.Column("base_id", sa.String(length=128), nullable=False),
        sa.Column("tenant_id", sa.String(length=128), nullable=False),
        sa.Column("document_id", sa.String(length=128), nullable=False),
        sa.Column("chunk_index", sa.BigInteger(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("context", sa.Text(), nullable=False),
        sa.Column("chunk_type", sa.String(length=64), nullable=False),
        sa.Column("is_searched", sa.Boolean(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("parent_chunk_id", sa.Text(), nullable=False),
        sa.Column("pre_chunk_id", sa.Text(), nullable=False),
        sa.Column("next_chunk_id", sa.Text(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("tag_ids", sa.Text(), nullable=False),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.Column("embedded_by", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"], ["documents.document_id"], name=op.f("fk_chunks_document_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("chunk_id", name=op.f("pk_chunks")),
    )
    op.create_index(op.f("ix_chunks_base_id"), "chunks", ["base_id"], unique=False)
    op.create_index(op.f("ix_chunks_document_id_chunk_index"), "chunks", ["document_id", "chunk_index"], unique=False)
    op.create_index(
        op.f("ix_chunks_document_id_embedded_by_chunk_index"),
        "chunks",
        ["document_id", "embedded_by", "chunk_index"],
        unique=False,
    )
