"""Use cases on sessions and their messages."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from opora.chat.branches import Forgetter, Stopper
from opora.domain.conversation import Message, Session
from opora.domain.errors import InvalidInput
from opora.domain.scope import Scope
from opora.ports import Clock, Database, Listed, NewId, Page
from opora.text.names import clean_label

MAX_TITLE_CHARS = 255


class Sessions:
    """Sessions belong to one user of one tenant; everybody else gets `NotFound`.

    Answers that still run in a session are stopped before it is deleted.
    """

    def __init__(
        self, *, database: Database, stopper: Stopper, forgetter: Forgetter, clock: Clock, new_id: NewId
    ) -> None:
        self._database = database
        self._stopper = stopper
        self._forgetter = forgetter
        self._clock = clock
        self._new_id = new_id

    async def create(self, scope: Scope, *, title: str = "", description: str = "") -> Session:
        now = self._clock()
        session = Session(
            session_id=self._new_id(),
            tenant_id=scope.tenant_id,
            user_id=scope.principal.user_id,
            title=_title(title),
            description=description,
            created_at=now,
            updated_at=now,
        )
        async with self._database.begin() as repositories:
            await repositories.sessions.add(scope, session)
        return session

    async def get(self, scope: Scope, session_id: str) -> Session:
        async with self._database.read() as repositories:
            return await repositories.sessions.get(scope, session_id)

    async def browse(self, scope: Scope, page: Page) -> Listed[Session]:
        async with self._database.read() as repositories:
            return await repositories.sessions.browse(scope, page)

    async def update(
        self,
        scope: Scope,
        session_id: str,
        *,
        title: str | None = None,
        description: str | None = None,
        is_pinned: bool | None = None,
    ) -> Session:
        async with self._database.begin() as repositories:
            session = await repositories.sessions.get(scope, session_id)
            session = replace(
                session,
                title=session.title if title is None else _title(title),
                description=session.description if description is None else description,
                is_pinned=session.is_pinned if is_pinned is None else is_pinned,
                updated_at=self._clock(),
            )
            await repositories.sessions.update(scope, session)
        return session

    async def delete(self, scope: Scope, session_id: str) -> None:
        async with self._database.read() as repositories:
            await repositories.sessions.get(scope, session_id)
        await self._stopper.stop_sessions(scope, [session_id])
        async with self._database.begin() as repositories:
            await repositories.sessions.delete(scope, session_id)
        await self._forgetter.forget(scope, session_ids=[session_id])

    async def delete_many(self, scope: Scope, session_ids: Collection[str]) -> list[str]:
        """Delete those of the sessions that are the caller's own; returns their ids."""
        await self._stopper.stop_sessions(scope, session_ids)
        async with self._database.begin() as repositories:
            gone = await repositories.sessions.delete_many(scope, session_ids)
        await self._forgetter.forget(scope, session_ids=gone)
        return gone

    async def messages(
        self, scope: Scope, session_id: str, *, limit: int = 20, before: datetime | None = None
    ) -> list[Message]:
        """The last ``limit`` messages before a time, oldest first."""
        async with self._database.read() as repositories:
            await repositories.sessions.get(scope, session_id)
            return await repositories.messages.recent(scope, session_id, limit=limit, before=before)

    async def whole(self, scope: Scope, session_id: str) -> tuple[Session, list[Message]]:
        """A session with all its messages, oldest first."""
        async with self._database.read() as repositories:
            session = await repositories.sessions.get(scope, session_id)
            return session, await repositories.messages.of_session(scope, session_id)

    async def message(self, scope: Scope, message_id: str) -> Message:
        async with self._database.read() as repositories:
            message = await repositories.messages.get(scope, message_id)
            await repositories.sessions.get(scope, message.session_id)
            return message


def _title(title: str) -> str:
    if len(title) > MAX_TITLE_CHARS:
        raise InvalidInput.of("title", f"A title has at most {MAX_TITLE_CHARS} characters.")
    return clean_label(title)
