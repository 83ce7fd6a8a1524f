"""Fresh ids: unique, sortable by the time they were made (version 7 of RFC 9562)."""

from __future__ import annotations

import secrets
import time
import uuid


def new_id() -> str:
    """48 bits of milliseconds, 12 bits of the fraction of a millisecond, 62 random bits."""
    nanoseconds = time.time_ns()
    milliseconds, rest = divmod(nanoseconds, 1_000_000)
    fraction = (rest << 12) // 1_000_000
    value = (milliseconds & ((1 << 48) - 1)) << 80 | 0x7 << 76 | fraction << 64 | 0b10 << 62 | secrets.randbits(62)
    return str(uuid.UUID(int=value))
