"""One import of entries: how it is taken up, how far it is, which rows were refused."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

BATCH_ROWS = 100
MAX_ROWS = 20_000


class ImportMode(StrEnum):
    APPEND = "append"
    REPLACE = "replace"


class ImportStatus(StrEnum):
    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"
    """Nothing was changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowProblem:
    """Why a row was refused; rows count from 1 in JSON and as the file numbers them elsewhere."""

    row: int
    message: str
    field: str = ""
    entry_id: str = ""
    """The entry that has the question already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaqImport:
    task_id: str
    tenant_id: str
    base_id: str
    mode: ImportMode
    status: ImportStatus = ImportStatus.PENDING
    total: int = 0
    done: int = 0
    """Rows that were looked at, refused ones included."""
    added: int = 0
    problems: tuple[RowProblem, ...] = ()
    new_tags: tuple[str, ...] = ()
    """Names of tags that are made for it; told when it begins."""
    error: str = ""
    created_at: datetime
    updated_at: datetime
