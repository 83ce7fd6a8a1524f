"""Work that waits in the database: what, on which subject, how often it was tried."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol, Self


class WorkKind(StrEnum):
    INGEST = "ingest"
    """Parse, split and index by keyword one document (subject: document id)."""
    EMBED = "embed"
    """Write the vectors that a document's chunks still lack (subject: document id)."""
    REINDEX = "reindex"
    """Write a document's chunks, as the database holds them, to the engine again (subject: document id)."""
    DELETE_DOCUMENT = "delete_document"
    """Take a document, already hidden, out of the engine, the files and the database."""
    DELETE_BASE = "delete_base"
    COPY_BASE = "copy_base"
    """Fill the hidden target of a copy with what the source holds, and show it (subject: task id)."""
    MEND_BASE = "mend_base"
    """Make the engine hold of a base what the database says that it holds (subject: base id)."""
    IMPORT_FAQ = "import_faq"
    """Take up the batches of entries that wait of one import (subject: task id)."""
    ENRICH = "enrich"
    """Have a chat model add what the base wants to a document (subject: document id)."""
    DESCRIBE_BASE = "describe_base"
    """Have a chat model describe a base by its documents (subject: base id)."""
    GRAPH = "graph"
    """Make the graph of entities hold what a document's chunks say (subject: document id)."""
    CLEAN_CHUNKS = "clean_chunks"
    """Take chunks that a document no longer has out of the engine (subject: document id)."""
    MOVE_DOCUMENT = "move_document"
    """Bring a document to another base (subject: document id, aim: base id)."""
    LEAVE_BASE = "leave_base"
    """Take a document that was moved away out of the base that it left (subject: document id)."""
    COPY_DOCUMENT = "copy_document"
    """Give a new document the chunks of another one (subject: document id, aim: document id)."""


class InBase(Protocol):
    """What belongs to a knowledge base and its tenant."""

    @property
    def tenant_id(self) -> str: ...

    @property
    def base_id(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    work_id: str
    kind: WorkKind
    tenant_id: str
    base_id: str
    subject: str
    aim: str = ""
    """What else the work must know: another base or document, by its id."""
    attempts: int = 0
    not_before: datetime
    lease_owner: str = ""
    lease_until: datetime | None = None
    error: str = ""
    created_at: datetime

    @classmethod
    def new(cls, kind: WorkKind, subject: str, *, of: InBase, work_id: str, now: datetime) -> Self:
        """Work that may begin at once, in the base that ``of`` belongs to."""
        return cls(
            work_id=work_id,
            kind=kind,
            tenant_id=of.tenant_id,
            base_id=of.base_id,
            subject=subject,
            not_before=now,
            created_at=now,
        )
