"""The parts that processes of one installation may play."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """What a process does in an installation of several."""

    ALL = "all"
    INGESTOR = "ingestor"
    RETRIEVER = "retriever"

    @property
    def works(self) -> bool:
        """Whether it has models and workers."""
        return self is not Role.RETRIEVER

    @property
    def searches(self) -> bool:
        """Whether it answers searches of other applications over the bus."""
        return self is not Role.INGESTOR
