"""Chunk sizes: which are refused, and the limits that the cutters work by."""

from __future__ import annotations

from dataclasses import dataclass

from opora.domain.errors import InvalidInput
from opora.domain.knowledge import ChunkingConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Sizes in characters. ``size`` holds for a chunk with its overlap; ``cap`` is the longest thing left uncut."""

    size: int
    overlap: int
    cap: int

    @property
    def own(self) -> int:
        """What a chunk may hold beside the overlap with the one before it."""
        return self.size - self.overlap


def validate_chunking(config: ChunkingConfig) -> None:
    """Raise `InvalidInput` naming the first field that does not fit; nothing is cut with such settings."""
    _check_pair(config.size, config.overlap, "size", "overlap")
    _check_pair(config.child_size, config.child_overlap, "child_size", "child_overlap")
    if config.parent_size <= 0:
        raise InvalidInput.of("parent_size", "The parent size must be positive.", hint="The usual one is 4096.")
    if config.parent_size < config.child_size:
        raise InvalidInput.of(
            "parent_size",
            f"A parent of {config.parent_size} characters can't hold a child of {config.child_size}.",
            hint="Set a parent size that is a few times the child size.",
        )
    for field in ("size", "parent_size"):
        if getattr(config, field) > config.hard_cap:
            raise InvalidInput.of(
                field,
                f"{field} is {getattr(config, field)}, above the hard cap of {config.hard_cap} characters.",
                hint="Lower it or raise hard_cap.",
            )


def _check_pair(size: int, overlap: int, size_field: str, overlap_field: str) -> None:
    if size <= 0:
        raise InvalidInput.of(size_field, f"{size_field} must be positive, not {size}.", hint="The usual one is 512.")
    if overlap < 0:
        raise InvalidInput.of(overlap_field, f"{overlap_field} can't be negative.", hint="0 switches overlap off.")
    if overlap >= size:
        raise InvalidInput.of(
            overlap_field,
            f"{overlap_field} ({overlap}) must be smaller than {size_field} ({size}).",
            hint="A sixth of the size is usual.",
        )


def limits(size: int, overlap: int, cap: int) -> Limits:
    """Limits of valid settings. Overlap of more than half would multiply the text, so half is all that is taken."""
    return Limits(size=size, overlap=min(overlap, size // 2), cap=cap)
