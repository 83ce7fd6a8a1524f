"""Column types and SQL functions that SQLite and PostgreSQL spell differently."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import GenericFunction

from opora.store.connection import Connection


class Moment(sa.TypeDecorator[datetime]):
    """A time with its zone, stored as UTC; SQLite keeps it as text that sorts by time."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("A stored time needs its zone.")
        moment = _in_utc(value)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _in_utc(value: datetime) -> datetime:
    """What the shift to UTC would carry over an end of the calendar stays at that end."""
    try:
        return value.astimezone(UTC)
    except OverflowError:
        return (datetime.min if value.year == datetime.min.year else datetime.max).replace(tzinfo=UTC)


class position(GenericFunction[int]):
    """Where a text stands in another, from 1; 0 when it does not. Unlike LIKE it minds the case everywhere."""

    type = sa.Integer()
    inherit_cache = True


@compiles(position, "sqlite")
def _position_sqlite(element: position, compiler: Any, **kw: Any) -> str:
    return f"instr({compiler.process(element.clauses, **kw)})"


@compiles(position)
def _position(element: position, compiler: Any, **kw: Any) -> str:
    return f"strpos({compiler.process(element.clauses, **kw)})"


class unfolded(GenericFunction[Any]):
    """The values of a JSON list, as rows: any number of them in one parameter."""

    inherit_cache = True


@compiles(unfolded, "sqlite")
def _unfolded_sqlite(element: unfolded, compiler: Any, **kw: Any) -> str:
    return f"(SELECT value FROM json_each({compiler.process(element.clauses, **kw)}))"


@compiles(unfolded)
def _unfolded(element: unfolded, compiler: Any, **kw: Any) -> str:
    return f"(SELECT json_array_elements_text(CAST({compiler.process(element.clauses, **kw)} AS json)))"


def insert_into(connection: Connection, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
    """An INSERT that knows ON CONFLICT, in the words of the connection's database."""
    if connection.dialect.name == "postgresql":
        return postgresql.insert(table)
    return sqlite.insert(table)
