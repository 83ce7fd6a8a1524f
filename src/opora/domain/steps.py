"""What a step of a document's processing did, and how long it took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

KEPT_ATTEMPTS = 5
KEPT_STEPS = 1_000
"""Of one document, whatever its attempts: a long document has a step for each batch of vectors."""


class StepName(StrEnum):
    READ = "read"
    SPLIT = "split"
    KEYWORDS = "keywords"
    SWITCH = "switch"
    EMBED = "embed"
    WRITE_VECTORS = "write_vectors"
    CLEAN = "clean"
    ENRICH = "enrich"
    GRAPH = "graph"
    MOVE = "move"
    COPY = "copy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """``attempt`` counts how often the document was read; a step belongs to the last one. '' as ``error``: it went
    well."""

    step_id: str
    document_id: str
    name: StepName
    attempt: int = 0
    started_at: datetime
    microseconds: int
    counts: Mapping[str, int] = field(default_factory=dict)
    error: str = ""
