"""Sessions in the relational store: a user sees their own and no others."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from opora.domain.conversation import Session
from opora.domain.errors import Forbidden, NotFound
from opora.domain.scope import Scope
from opora.ports import Listed, Page
from opora.store.codec import dump, load_mapping
from opora.store.connection import Connection
from opora.store.scoping import Condition, in_steps
from opora.store.tables import sessions

_c = sessions.c


# Statements of the way of a question are made once: to build one takes longer than to run it.
OF_USER = sa.and_(_c.tenant_id == sa.bindparam("of_tenant"), _c.user_id == sa.bindparam("of_user"))
"""Sessions of one user, whom `user_of` names."""
_GET = sa.select(sessions).where(_c.session_id == sa.bindparam("wanted"), OF_USER)
_UPDATE = sa.update(sessions).where(_c.session_id == sa.bindparam("wanted"), OF_USER)


def user_of(scope: Scope) -> dict[str, str]:
    """Values of `OF_USER`."""
    return {"of_tenant": scope.tenant_id, "of_user": scope.principal.user_id}


def of_user(scope: Scope) -> Condition:
    return sa.and_(_c.tenant_id == scope.tenant_id, _c.user_id == scope.principal.user_id)


class SqlSessions:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def add(self, scope: Scope, session: Session) -> None:
        if (session.tenant_id, session.user_id) != (scope.tenant_id, scope.principal.user_id):
            raise Forbidden("A session can only be opened for oneself.", details={"session_id": session.session_id})
        await self._connection.execute(sa.insert(sessions).values(**_to_row(session)))

    async def get(self, scope: Scope, session_id: str) -> Session:
        row = (await self._connection.execute(_GET, {"wanted": session_id} | user_of(scope))).one_or_none()
        if row is None:
            raise _absent(session_id)
        return _to_session(row)

    async def browse(self, scope: Scope, page: Page) -> Listed[Session]:
        mine = of_user(scope)
        total = await self._connection.scalar(sa.select(sa.func.count()).select_from(sessions).where(mine))
        order = (_c.is_pinned.desc(), _c.updated_at.desc(), _c.session_id.desc())
        query = sa.select(sessions).where(mine).order_by(*order).limit(page.page_size).offset(page.offset)
        rows = await self._connection.execute(query)
        return Listed(items=tuple(_to_session(row) for row in rows), total=total or 0)

    async def update(self, scope: Scope, session: Session) -> None:
        values = {name: value for name, value in _to_row(session).items() if name not in _FIXED}
        values |= {"wanted": session.session_id} | user_of(scope)
        if (await self._connection.execute(_UPDATE, values)).rowcount == 0:
            raise _absent(session.session_id)

    async def delete_many(self, scope: Scope, session_ids: Collection[str]) -> list[str]:
        gone: list[str] = []
        for step in in_steps(session_ids):
            mine = sa.and_(_c.session_id.in_(step), of_user(scope))
            gone += (await self._connection.scalars(sa.select(_c.session_id).where(mine))).all()
            await self._connection.execute(sa.delete(sessions).where(mine))
        return sorted(gone)

    async def delete(self, scope: Scope, session_id: str) -> None:
        query = sa.delete(sessions).where(_c.session_id == session_id, of_user(scope))
        if (await self._connection.execute(query)).rowcount == 0:
            raise _absent(session_id)


_FIXED = frozenset({"session_id", "tenant_id", "user_id", "parent_session_id", "forked_from_message_id", "created_at"})


def _absent(session_id: str) -> NotFound:
    return NotFound("There is no such session.", details={"session_id": session_id})


def _to_row(session: Session) -> dict[str, Any]:
    return {
        "session_id": session.session_id,
        "tenant_id": session.tenant_id,
        "user_id": session.user_id,
        "title": session.title,
        "description": session.description,
        "is_pinned": session.is_pinned,
        "parent_session_id": session.parent_session_id,
        "forked_from_message_id": session.forked_from_message_id,
        "last_request": dump(dict(session.last_request)),
        "created_at": session.created_at,
        "updated_at": session.updated_at,
    }


def _to_session(row: sa.Row[Any]) -> Session:
    return Session(
        session_id=row.session_id,
        tenant_id=row.tenant_id,
        user_id=row.user_id,
        title=row.title,
        description=row.description,
        is_pinned=row.is_pinned,
        parent_session_id=row.parent_session_id,
        forked_from_message_id=row.forked_from_message_id,
        last_request=load_mapping(row.last_request),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
