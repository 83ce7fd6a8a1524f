"""What every log does behind the terminal event: one title may still come, for a moment."""

from __future__ import annotations

from opora.domain.errors import Conflict
from opora.domain.stream import StreamEvent

TITLE_WAIT_SECONDS = 3.0
TITLE_PENDING = "title_pending"
"""Key in the data of `complete`: a title will follow, and readers should wait for it."""


def too_late(event: StreamEvent) -> Conflict:
    return Conflict(f"The answer is complete; '{event.response_type}' came too late.")
