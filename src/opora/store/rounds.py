"""Finished rounds for the search over earlier messages: which the engine lacks, and what those it found hold."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa

from opora.domain.conversation import Role, StoredRound
from opora.domain.scope import Scope
from opora.store.connection import Connection
from opora.store.messages import to_message
from opora.store.scoping import Condition, in_steps
from opora.store.sessions import of_user
from opora.store.tables import messages, sessions

_c = messages.c
_IS_ANSWER = _c.role == Role.ASSISTANT.value


class SqlRounds:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def unindexed(self, scope: Scope, stamps: Collection[str], *, limit: int) -> list[StoredRound]:
        query = sa.select(messages).where(_lacking(scope, stamps)).order_by(_c.created_at.desc(), _c.message_id.desc())
        return await self._whole(scope, (await self._connection.execute(query.limit(limit))).all())

    async def count_unindexed(self, scope: Scope, stamps: Collection[str]) -> int:
        query = sa.select(sa.func.count()).select_from(messages).where(_lacking(scope, stamps))
        return await self._connection.scalar(query) or 0

    async def mark_indexed(self, scope: Scope, message_ids: Collection[str], stamp: str) -> None:
        for step in in_steps(message_ids):
            which = sa.and_(_c.message_id.in_(step), _mine(scope))
            await self._connection.execute(sa.update(messages).where(which).values(indexed_as=stamp))

    async def get_many(self, scope: Scope, message_ids: Collection[str]) -> dict[str, StoredRound]:
        rows: list[Any] = []
        for step in in_steps(message_ids):
            query = sa.select(messages).where(_c.message_id.in_(step), _IS_ANSWER, _mine(scope))
            rows += (await self._connection.execute(query)).all()
        return {one.answer.message_id: one for one in await self._whole(scope, rows)}

    async def _whole(self, scope: Scope, answers: Sequence[Any]) -> list[StoredRound]:
        """The answers with their questions and the titles of their sessions, in the same order."""
        questions: dict[tuple[str, str], Any] = {}
        titles: dict[str, str] = {}
        for step in in_steps({row.session_id for row in answers}):
            requests = {row.request_id for row in answers if row.session_id in step}
            query = sa.select(messages).where(
                _c.session_id.in_(step), _c.request_id.in_(sorted(requests)), _c.role == Role.USER.value
            )
            questions |= {(row.session_id, row.request_id): row for row in await self._connection.execute(query)}
            named = sa.select(sessions.c.session_id, sessions.c.title).where(sessions.c.session_id.in_(step))
            titles |= {row.session_id: row.title for row in await self._connection.execute(named)}
        return [
            StoredRound(
                session_title=titles.get(row.session_id, ""),
                question=to_message(found) if (found := questions.get((row.session_id, row.request_id))) else None,
                answer=to_message(row),
            )
            for row in answers
        ]


def _mine(scope: Scope) -> Condition:
    return _c.session_id.in_(sa.select(sessions.c.session_id).where(of_user(scope)))


def _lacking(scope: Scope, stamps: Collection[str]) -> Condition:
    return sa.and_(_IS_ANSWER, _c.is_completed, _c.indexed_as.not_in(sorted(stamps)), _mine(scope))
