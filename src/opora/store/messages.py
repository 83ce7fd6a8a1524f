"""Messages in the relational store, seen through the session of the user who asked."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from opora.domain.conversation import NOTHING_BESIDE, Beside, Feedback, Finish, Message, Role
from opora.domain.errors import NotFound
from opora.domain.scope import Scope
from opora.store.codec import (
    Unread,
    dump,
    dump_citations,
    dump_results,
    dump_value,
    load_citations,
    load_mapping,
    load_results,
    load_value,
)
from opora.store.connection import Connection
from opora.store.scoping import Condition
from opora.store.sessions import OF_USER, user_of
from opora.store.tables import messages, sessions

_c = messages.c


# Made once: to build a statement takes longer than to run it.
_MINE = _c.session_id.in_(sa.select(sessions.c.session_id).where(OF_USER))
_INSERT = sa.insert(messages).from_select(
    [column.name for column in messages.columns],
    sa.select(*(sa.bindparam(f"new_{column.name}", type_=column.type) for column in messages.columns)).where(
        sa.exists().where(sessions.c.session_id == sa.bindparam("wanted"), OF_USER)
    ),
)
"""Look and write in one: a row comes of it only where the session is the user's own."""
_GET = sa.select(messages).where(_c.message_id == sa.bindparam("wanted"), _MINE)
_UPDATE = sa.update(messages).where(_c.message_id == sa.bindparam("wanted"), _MINE)
_RECENT = (
    sa.select(messages)
    .where(_c.session_id == sa.bindparam("wanted"), _MINE)
    .order_by(_c.created_at.desc(), _c.message_id.desc())
    .limit(sa.bindparam("most"))
)
_ORDER = (_c.created_at, _c.message_id)
_RECENT_BEFORE = _RECENT.where(_c.created_at < sa.bindparam("before"))


class SqlMessages:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def add(self, scope: Scope, message: Message) -> None:
        values = {f"new_{name}": value for name, value in _to_row(message).items()} | {"new_indexed_as": ""}
        values |= {"wanted": message.session_id} | user_of(scope)
        is_mine = message.tenant_id == scope.tenant_id
        if not is_mine or (await self._connection.execute(_INSERT, values)).rowcount == 0:
            raise NotFound("There is no such session.", details={"session_id": message.session_id})

    async def get(self, scope: Scope, message_id: str) -> Message:
        row = (await self._connection.execute(_GET, {"wanted": message_id} | user_of(scope))).one_or_none()
        if row is None:
            raise _absent(message_id)
        return to_message(row)

    async def update(self, scope: Scope, message: Message) -> None:
        values = {name: value for name, value in _to_row(message).items() if name not in _FIXED}
        values |= {"wanted": message.message_id} | user_of(scope)
        if (await self._connection.execute(_UPDATE, values)).rowcount == 0:
            raise _absent(message.message_id)

    async def recent(
        self, scope: Scope, session_id: str, *, limit: int, before: datetime | None = None
    ) -> list[Message]:
        values: dict[str, Any] = {"wanted": session_id, "most": limit} | user_of(scope)
        if before is None:
            rows = await self._connection.execute(_RECENT, values)
        else:
            rows = await self._connection.execute(_RECENT_BEFORE, values | {"before": before})
        return [to_message(row) for row in rows][::-1]

    async def of_session(self, scope: Scope, session_id: str) -> list[Message]:
        query = sa.select(messages).where(_c.session_id == session_id, _MINE).order_by(*_ORDER)
        return [to_message(row) for row in await self._connection.execute(query, user_of(scope))]

    async def delete(self, scope: Scope, message_id: str) -> None:
        query = sa.delete(messages).where(_c.message_id == message_id, _MINE)
        if (await self._connection.execute(query, user_of(scope))).rowcount == 0:
            raise _absent(message_id)

    async def delete_after(self, scope: Scope, message: Message, *, with_it: bool = False) -> list[str]:
        later = sa.tuple_(_c.created_at, _c.message_id) > (message.created_at, message.message_id)
        gone = sa.or_(later, _c.message_id == message.message_id) if with_it else later
        return await self._delete(scope, sa.and_(_c.session_id == message.session_id, gone))

    async def clear(self, scope: Scope, session_id: str) -> list[str]:
        return await self._delete(scope, _c.session_id == session_id)

    async def _delete(self, scope: Scope, which: Condition) -> list[str]:
        query = sa.delete(messages).where(which, _MINE).returning(_c.message_id)
        return sorted((await self._connection.execute(query, user_of(scope))).scalars().all())

    async def unfinished(self) -> list[Message]:
        query = sa.select(messages).where(sa.not_(_c.is_completed), _c.role == Role.ASSISTANT.value)
        rows = await self._connection.execute(query.order_by(_c.created_at, _c.message_id))
        return [to_message(row) for row in rows]

    async def interrupt(self, message_id: str, now: datetime) -> None:
        query = sa.update(messages).where(_c.message_id == message_id, sa.not_(_c.is_completed))
        await self._connection.execute(query.values(is_completed=True, finish=Finish.INTERRUPTED.value, updated_at=now))


_FIXED = frozenset({"message_id", "session_id", "tenant_id", "request_id", "role", "created_at"})


def _absent(message_id: str) -> NotFound:
    return NotFound("There is no such message.", details={"message_id": message_id})


def _to_row(message: Message) -> dict[str, Any]:
    return {
        "message_id": message.message_id,
        "session_id": message.session_id,
        "tenant_id": message.tenant_id,
        "request_id": message.request_id,
        "role": message.role.value,
        "content": message.content,
        "rendered_content": message.rendered_content,
        "reference_list": dump_results(message.references),
        "citations": dump_citations(message.citations),
        "is_completed": message.is_completed,
        "finish": message.finish.value if message.finish else "",
        "error_message": message.error_message,
        "trace": dump(dict(message.trace)),
        "beside": dump_value(message.beside),
        "request": dump(dict(message.request)),
        "feedback": dump_value(message.feedback),
        "created_at": message.created_at,
        "updated_at": message.updated_at,
    }


def to_message(row: sa.Row[Any]) -> Message:
    return Message(
        message_id=row.message_id,
        session_id=row.session_id,
        tenant_id=row.tenant_id,
        request_id=row.request_id,
        role=Role(row.role),
        content=row.content,
        rendered_content=row.rendered_content,
        references=load_results(row.reference_list),
        citations=load_citations(row.citations),
        is_completed=row.is_completed,
        finish=Finish(row.finish) if row.finish else None,
        error_message=row.error_message,
        trace=Unread(row.trace),
        beside=load_value(Beside, row.beside) or NOTHING_BESIDE,
        request=load_mapping(row.request),
        feedback=load_value(Feedback, row.feedback),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
