"""What is told of a whole base: how much it holds, and how far a copy of it has come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import blake2b

from opora.domain.knowledge import ParseStatus

_ID_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseStatistics:
    """``chunks`` are searched rows and ``embedded`` those of them with a vector, FAQ questions among them;
    ``entries`` are those of a FAQ, which are no documents."""

    documents: Mapping[ParseStatus, int] = field(default_factory=dict)
    entries: int = 0
    chunks: int = 0
    embedded: int = 0
    file_bytes: int = 0
    storage_bytes: int = 0
    """What the base takes in the search engine, by the engine's own estimate."""
    changed_at: datetime


class CopyStatus(StrEnum):
    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseCopy:
    """A copy of a base with all it holds. The target is shown to nobody until it is complete."""

    task_id: str
    tenant_id: str
    source_id: str
    target_id: str
    status: CopyStatus = CopyStatus.PENDING
    total: int = 0
    done: int = 0
    """Documents; a FAQ is one."""
    error: str = ""
    created_at: datetime
    updated_at: datetime


def copied_id(target_id: str, old_id: str) -> str:
    """The id that a thing of the source takes in the target: the same at every try, and another in every copy."""
    return blake2b(f"{target_id}\0{old_id}".encode("utf-8", "surrogatepass"), digest_size=_ID_BYTES).hexdigest()
