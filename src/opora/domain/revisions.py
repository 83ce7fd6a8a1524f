"""What became of a chunk that people edited: each state it had, under the id by which it was searched and cited."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class RevisionOrigin(StrEnum):
    PARSER = "parser"
    EDIT = "edit"
    REVERT = "revert"
    ADDED = "added"
    DELETED = "deleted"
    """The chunk was taken out; its id and content are those it had last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRevision:
    """One state of a chunk. All states of one chunk share ``lineage_id``, the id of the first.

    A chunk is never changed under its id: an edit gives it a new one, so that what was cited by the old one can still
    be shown as it was.
    """

    chunk_id: str
    lineage_id: str
    document_id: str
    base_id: str
    tenant_id: str
    revision: int
    """0 is what the parser made, or what was added first."""
    origin: RevisionOrigin
    content: str
    context: str = ""
    """The headings that the chunk stood under when it was first edited; older states do not tell."""
    author: str = ""
    """Who made it; '' for the parser."""
    after: str = ""
    """Of an added chunk: the lineage behind which it stands; '' for the end of the document."""
    created_at: datetime

    @property
    def is_deleted(self) -> bool:
        return self.origin is RevisionOrigin.DELETED
