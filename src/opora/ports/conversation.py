"""Repositories of sessions, messages and what is remembered of people."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from opora.domain.conversation import Message, Session, StoredRound
from opora.domain.memory import MemoryItem
from opora.domain.pictures import Picture
from opora.domain.scope import Scope
from opora.ports.values import Listed, Page


class SessionRepository(Protocol):
    """Sessions of the scope's principal; another user's session raises `NotFound`."""

    async def add(self, scope: Scope, session: Session) -> None: ...
    async def get(self, scope: Scope, session_id: str) -> Session: ...
    async def browse(self, scope: Scope, page: Page) -> Listed[Session]: ...
    async def update(self, scope: Scope, session: Session) -> None: ...
    async def delete(self, scope: Scope, session_id: str) -> None:
        """Remove the session with its messages."""
        ...

    async def delete_many(self, scope: Scope, session_ids: Collection[str]) -> list[str]:
        """Remove those of the sessions that are the principal's own; returns their ids."""
        ...


class MessageRepository(Protocol):
    async def add(self, scope: Scope, message: Message) -> None: ...
    async def get(self, scope: Scope, message_id: str) -> Message: ...
    async def update(self, scope: Scope, message: Message) -> None: ...
    async def recent(
        self, scope: Scope, session_id: str, *, limit: int, before: datetime | None = None
    ) -> list[Message]:
        """The last ``limit`` messages, oldest first."""
        ...

    async def of_session(self, scope: Scope, session_id: str) -> list[Message]:
        """All messages, oldest first."""
        ...

    async def delete(self, scope: Scope, message_id: str) -> None: ...
    async def delete_after(self, scope: Scope, message: Message, *, with_it: bool = False) -> list[str]:
        """Remove what came after a message of its session, and with ``with_it`` the message too; returns the ids."""
        ...

    async def clear(self, scope: Scope, session_id: str) -> list[str]:
        """Remove all messages of a session; returns their ids."""
        ...

    async def unfinished(self) -> list[Message]:
        """Assistant messages of all tenants that were never completed; for the start-up check only."""
        ...

    async def interrupt(self, message_id: str, now: datetime) -> None:
        """Flag an unfinished message whose process died."""
        ...


class ImageRepository(Protocol):
    """Pictures of the messages of the scope's principal; they go with their message."""

    async def add(self, scope: Scope, message_id: str, pictures: Sequence[Picture]) -> None:
        """Call after the message was added, in the same transaction."""
        ...

    async def of_message(self, scope: Scope, message_id: str) -> tuple[Picture, ...]: ...
    async def get(self, scope: Scope, message_id: str, image_id: str) -> Picture: ...


class RoundRepository(Protocol):
    """The principal's own rounds whose answer has ended; an answer's id names the round."""

    async def unindexed(self, scope: Scope, stamps: Collection[str], *, limit: int) -> list[StoredRound]:
        """The newest rounds that carry none of these stamps: what the search engine lacks."""
        ...

    async def count_unindexed(self, scope: Scope, stamps: Collection[str]) -> int: ...
    async def mark_indexed(self, scope: Scope, message_ids: Collection[str], stamp: str) -> None: ...
    async def get_many(self, scope: Scope, message_ids: Collection[str]) -> dict[str, StoredRound]: ...


class CitationRepository(Protocol):
    """How often the caller's own answers cited each document."""

    async def add(self, scope: Scope, document_ids: Collection[str]) -> None:
        """Count one answer that cites these documents; those that the scope does not hold are passed over."""
        ...

    async def uses(self, scope: Scope, document_ids: Collection[str]) -> dict[str, int]:
        """The number of the caller's answers that cited each of these documents; those without any are left out."""
        ...


class MemoryRepository(Protocol):
    """What the scope's principal asked to be remembered; another user's item raises `NotFound`."""

    async def enabled(self, scope: Scope) -> bool:
        """Whether memory is used; it is, until somebody switches it off."""
        ...

    async def enable(self, scope: Scope, enabled: bool) -> None: ...
    async def add(self, scope: Scope, item: MemoryItem) -> None: ...
    async def get(self, scope: Scope, item_id: str) -> MemoryItem: ...
    async def count(self, scope: Scope) -> int: ...
    async def all(self, scope: Scope) -> list[MemoryItem]:
        """Everything, newest first."""
        ...

    async def browse(self, scope: Scope, page: Page) -> Listed[MemoryItem]: ...
    async def update(self, scope: Scope, item: MemoryItem) -> None: ...
    async def delete(self, scope: Scope, item_id: str) -> None: ...
    async def clear(self, scope: Scope) -> int:
        """Remove everything; returns how many items that were."""
        ...
