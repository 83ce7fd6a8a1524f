"""Stored facts of the installation: name and value, for what must be remembered between starts."""

from __future__ import annotations

import sqlalchemy as sa

from opora.store.connection import Connection
from opora.store.tables import facts
from opora.store.types import insert_into


class SqlFacts:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def get(self, name: str) -> str | None:
        value: str | None = await self._connection.scalar(sa.select(facts.c.value).where(facts.c.name == name))
        return value

    async def set(self, name: str, value: str) -> None:
        insert = insert_into(self._connection, facts).values(name=name, value=value)
        await self._connection.execute(
            insert.on_conflict_do_update(index_elements=[facts.c.name], set_={"value": value})
        )
