"""All tables of the relational store; migrations are checked against this by test."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from opora.store.types import Moment

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _id(name: str, *args: sa.ForeignKey, primary_key: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.String(128), *args, primary_key=primary_key, nullable=False)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


def _added(name: str) -> sa.Column[str]:
    """Text of a column that older rows were written without."""
    return sa.Column(name, sa.Text, nullable=False, server_default="")


def _word(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.String(64), nullable=False)


def _flag(name: str) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean, nullable=False)


def _count(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False)


def _moment(name: str, *, nullable: bool = False) -> sa.Column[datetime]:
    return sa.Column(name, Moment(), nullable=nullable)


bases = sa.Table(
    "bases",
    metadata,
    _id("base_id", primary_key=True),
    _id("tenant_id"),
    _text("name"),
    _text("name_folded"),
    _word("base_type"),
    _text("description"),
    _text("chunking"),
    _text("indexing"),
    _added("enrichment"),
    _text("embedding_model_id"),
    _added("own_model_id"),
    _text("vector_store_id"),
    _added("faq_config"),
    _flag("is_pinned"),
    _flag("is_hidden"),
    _moment("created_at"),
    _moment("updated_at"),
    sa.Index(None, "tenant_id", "updated_at"),
)

base_copies = sa.Table(
    "base_copies",
    metadata,
    _id("task_id", primary_key=True),
    _id("tenant_id"),
    _id("source_id"),
    _id("target_id"),
    _word("status"),
    _count("total"),
    _count("done"),
    _text("error"),
    _moment("created_at"),
    _moment("updated_at"),
    sa.Index(None, "target_id"),
)

documents = sa.Table(
    "documents",
    metadata,
    _id("document_id", primary_key=True),
    _id("base_id", sa.ForeignKey("bases.base_id", ondelete="CASCADE")),
    _id("tenant_id"),
    _text("title"),
    _text("file_name"),
    _text("name_folded"),
    _text("file_type"),
    _count("file_size"),
    _id("file_hash"),
    _text("source"),
    _added("folder"),
    sa.Column("origin", sa.String(64), nullable=False, server_default="file"),
    _word("parse_status"),
    _word("error_reason"),
    _text("error_message"),
    _flag("enabled"),
    _text("description"),
    _text("metadata"),
    _added("file_metadata"),
    _text("tag_ids"),
    _count("version"),
    _count("indexed_version"),
    _count("chunk_count"),
    _count("embedded_count"),
    _moment("created_at"),
    _moment("updated_at"),
    sa.Index(
        "uq_documents_same_bytes",
        "base_id",
        "file_hash",
        unique=True,
        sqlite_where=sa.text("parse_status <> 'deleting'"),
        postgresql_where=sa.text("parse_status <> 'deleting'"),
    ),
    sa.Index(None, "base_id", "created_at"),
    sa.Index(None, "base_id", "source"),
)

chunks = sa.Table(
    "chunks",
    metadata,
    _id("chunk_id", primary_key=True),
    _id("base_id"),
    _id("tenant_id"),
    _id("document_id", sa.ForeignKey("documents.document_id", ondelete="CASCADE")),
    _count("chunk_index"),
    _text("content"),
    _text("context"),
    _word("chunk_type"),
    _flag("is_searched"),
    _text("place"),
    _text("parent_chunk_id"),
    _text("pre_chunk_id"),
    _text("next_chunk_id"),
    _flag("enabled"),
    _text("tag_ids"),
    _text("metadata"),
    _text("embedded_by"),
    sa.Index(None, "document_id", "chunk_index"),
    sa.Index(None, "document_id", "is_searched", "embedded_by", "chunk_index"),
    sa.Index(None, "base_id"),
    sa.Index(None, "parent_chunk_id"),
)

tags = sa.Table(
    "tags",
    metadata,
    _id("tag_id", primary_key=True),
    _id("tenant_id"),
    _id("base_id", sa.ForeignKey("bases.base_id", ondelete="CASCADE")),
    _text("name"),
    _text("name_folded"),
    _word("color"),
    _count("position"),
    _moment("created_at"),
    _moment("updated_at"),
    sa.UniqueConstraint("base_id", "name_folded"),
)

chunk_revisions = sa.Table(
    "chunk_revisions",
    metadata,
    _id("lineage_id", primary_key=True),
    sa.Column("revision", sa.BigInteger, primary_key=True, nullable=False),
    _id("chunk_id"),
    _id("document_id", sa.ForeignKey("documents.document_id", ondelete="CASCADE")),
    _id("base_id"),
    _id("tenant_id"),
    _word("origin"),
    _text("content"),
    _added("context"),
    _id("author"),
    _id("after"),
    _moment("created_at"),
    sa.Index(None, "chunk_id"),
    sa.Index(None, "document_id"),
)

document_steps = sa.Table(
    "document_steps",
    metadata,
    _id("step_id", primary_key=True),
    _id("document_id", sa.ForeignKey("documents.document_id", ondelete="CASCADE")),
    _id("base_id"),
    _id("tenant_id"),
    _count("attempt"),
    _word("name"),
    _count("microseconds"),
    _text("counts"),
    _text("error"),
    _moment("started_at"),
    sa.Index(None, "document_id", "attempt"),
)

enrichments = sa.Table(
    "enrichments",
    metadata,
    _id("document_id", sa.ForeignKey("documents.document_id", ondelete="CASCADE"), primary_key=True),
    _id("base_id"),
    _id("tenant_id"),
    _count("version"),
    _count("tokens"),
    _text("done"),
    _text("reason"),
    _text("summary"),
    sa.Index(None, "base_id"),
)

strays = sa.Table(
    "strays",
    metadata,
    _id("chunk_id", primary_key=True),
    _id("base_id"),
    _id("tenant_id"),
    _id("document_id"),
    sa.Index(None, "document_id"),
    sa.Index(None, "base_id"),
)

sessions = sa.Table(
    "sessions",
    metadata,
    _id("session_id", primary_key=True),
    _id("tenant_id"),
    _id("user_id"),
    _text("title"),
    _text("description"),
    _flag("is_pinned"),
    _added("parent_session_id"),
    _added("forked_from_message_id"),
    _added("last_request"),
    _moment("created_at"),
    _moment("updated_at"),
    sa.Index(None, "tenant_id", "user_id", "updated_at"),
)

messages = sa.Table(
    "messages",
    metadata,
    _id("message_id", primary_key=True),
    _id("session_id", sa.ForeignKey("sessions.session_id", ondelete="CASCADE")),
    _id("tenant_id"),
    _id("request_id"),
    _word("role"),
    _text("content"),
    _text("rendered_content"),
    _text("reference_list"),
    _added("citations"),
    _flag("is_completed"),
    _word("finish"),
    _text("error_message"),
    _text("trace"),
    _added("beside"),
    _added("request"),
    _added("feedback"),
    _added("indexed_as"),
    _moment("created_at"),
    _moment("updated_at"),
    sa.Index(None, "session_id", "created_at"),
    sa.Index(
        "ix_messages_unfinished",
        "created_at",
        sqlite_where=sa.text("NOT is_completed"),
        postgresql_where=sa.text("NOT is_completed"),
    ),
)

message_images = sa.Table(
    "message_images",
    metadata,
    _id("message_id", sa.ForeignKey("messages.message_id", ondelete="CASCADE"), primary_key=True),
    _id("image_id", primary_key=True),
    _count("position"),
    _word("media_type"),
    sa.Column("data", sa.LargeBinary, nullable=False),
)

citation_counts = sa.Table(
    "citation_counts",
    metadata,
    _id("tenant_id", primary_key=True),
    _id("user_id", primary_key=True),
    _id("document_id", sa.ForeignKey("documents.document_id", ondelete="CASCADE"), primary_key=True),
    _count("uses"),
    sa.Index(None, "document_id"),
)

memory_items = sa.Table(
    "memory_items",
    metadata,
    _id("item_id", primary_key=True),
    _id("tenant_id"),
    _id("user_id"),
    _text("content"),
    _flag("is_always"),
    _moment("created_at"),
    _moment("updated_at"),
    sa.Index(None, "tenant_id", "user_id", "created_at"),
)

memory_settings = sa.Table(
    "memory_settings",
    metadata,
    _id("tenant_id", primary_key=True),
    _id("user_id", primary_key=True),
    _flag("enabled"),
)

work = sa.Table(
    "work",
    metadata,
    _id("work_id", primary_key=True),
    _word("kind"),
    _id("tenant_id"),
    _id("base_id"),
    _id("subject"),
    _added("aim"),
    _count("attempts"),
    _moment("not_before"),
    _id("lease_owner"),
    _moment("lease_until", nullable=True),
    _text("error"),
    _moment("created_at"),
    sa.Index(
        "uq_work_waiting",
        "kind",
        "subject",
        unique=True,
        sqlite_where=sa.text("lease_owner = ''"),
        postgresql_where=sa.text("lease_owner = ''"),
    ),
    sa.Index(None, "created_at"),
    sa.Index(None, "subject"),
    sa.Index(None, "base_id"),
)

models = sa.Table(
    "models",
    metadata,
    _id("model_id", primary_key=True),
    _id("tenant_id"),
    _word("kind"),
    _word("provider"),
    _text("name"),
    _text("model"),
    _text("base_url"),
    _text("options"),
    sa.Column("dimension", sa.BigInteger, nullable=False, server_default="0"),
    _moment("created_at"),
    _moment("updated_at"),
    sa.Index(None, "tenant_id", "created_at"),
)

model_keys = sa.Table(
    "model_keys",
    metadata,
    _id("model_id", sa.ForeignKey("models.model_id", ondelete="CASCADE"), primary_key=True),
    _text("token"),
)

graph_entities = sa.Table(
    "graph_entities",
    metadata,
    _id("chunk_id", sa.ForeignKey("chunks.chunk_id", ondelete="CASCADE"), primary_key=True),
    _id("key", primary_key=True),
    _text("name"),
    sa.Index(None, "key"),
)

graph_relations = sa.Table(
    "graph_relations",
    metadata,
    _id("chunk_id", sa.ForeignKey("chunks.chunk_id", ondelete="CASCADE"), primary_key=True),
    _id("source_key", primary_key=True),
    _id("target_key", primary_key=True),
    _text("label"),
    sa.Index(None, "source_key"),
    sa.Index(None, "target_key"),
)

faq_entries = sa.Table(
    "faq_entries",
    metadata,
    _id("chunk_id", sa.ForeignKey("chunks.chunk_id", ondelete="CASCADE"), primary_key=True),
    _id("base_id"),
    _count("seq_id"),
    _flag("is_recommended"),
    _text("text_folded"),
    _moment("created_at"),
    _moment("updated_at"),
    sa.Index("uq_faq_entries_seq", "base_id", "seq_id", unique=True),
)

faq_questions = sa.Table(
    "faq_questions",
    metadata,
    _id("base_id", primary_key=True),
    _id("question_hash", primary_key=True),
    _id("chunk_id", sa.ForeignKey("chunks.chunk_id", ondelete="CASCADE")),
    sa.Index(None, "chunk_id"),
)

faq_sequences = sa.Table(
    "faq_sequences",
    metadata,
    _id("base_id", sa.ForeignKey("bases.base_id", ondelete="CASCADE"), primary_key=True),
    _count("last_seq_id"),
)

faq_imports = sa.Table(
    "faq_imports",
    metadata,
    _id("task_id", primary_key=True),
    _id("tenant_id"),
    _id("base_id", sa.ForeignKey("bases.base_id", ondelete="CASCADE")),
    _word("mode"),
    _word("status"),
    _count("total"),
    _count("done"),
    _count("added"),
    _text("problems"),
    _text("error"),
    _moment("created_at"),
    _moment("updated_at"),
    sa.Index(None, "base_id"),
)

faq_import_batches = sa.Table(
    "faq_import_batches",
    metadata,
    _id("task_id", sa.ForeignKey("faq_imports.task_id", ondelete="CASCADE"), primary_key=True),
    sa.Column("number", sa.BigInteger, primary_key=True, nullable=False, autoincrement=False),
    _text("rows"),
)

facts = sa.Table(
    "facts",
    metadata,
    sa.Column("name", sa.String(200), primary_key=True, nullable=False),
    _text("value"),
)

tenant_settings = sa.Table(
    "tenant_settings",
    metadata,
    _id("tenant_id", primary_key=True),
    _text("retrieval"),
    _text("prompts"),
)

agents = sa.Table(
    "agents",
    metadata,
    _id("agent_id", primary_key=True),
    _id("tenant_id"),
    _text("name"),
    _text("description"),
    _text("chosen"),
    _moment("created_at"),
    _moment("updated_at"),
    sa.Index(None, "tenant_id", "created_at"),
)
