"""What SQLite and PostgreSQL spell differently."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from opora.store.tables import chunks, documents, metadata, work
from opora.store.types import Moment, position

HERE = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=timezone(timedelta(hours=3)))


@pytest.mark.parametrize(("dialect", "word"), [(sqlite.dialect(), "instr("), (postgresql.dialect(), "strpos(")])
def test_the_place_of_a_text_in_another(dialect: sa.Dialect, word: str) -> None:
    query = sa.select(documents.c.document_id).where(position(documents.c.name_folded, "x") > 0)
    assert f"{word}documents.name_folded, " in str(query.compile(dialect=dialect))


def test_postgresql_takes_the_schema_with_its_partial_indexes() -> None:
    dialect = postgresql.dialect()
    for table in metadata.sorted_tables:
        assert f"CREATE TABLE {table.name}" in str(CreateTable(table).compile(dialect=dialect))
    unique = {
        index.name: str(CreateIndex(index).compile(dialect=dialect))
        for table in (documents, work)
        for index in table.indexes
    }
    assert "WHERE parse_status <> 'deleting'" in unique["uq_documents_same_bytes"]
    assert "WHERE lease_owner = ''" in unique["uq_work_waiting"]
    assert chunks.c.chunk_id.primary_key


@pytest.mark.parametrize("dialect", [sqlite.dialect(), postgresql.dialect()])
def test_a_moment_comes_back_in_utc(dialect: sa.Dialect) -> None:
    moment = Moment()
    stored = moment.process_bind_param(HERE, dialect)
    assert moment.process_result_value(stored, dialect) == HERE
    back = moment.process_result_value(stored, dialect)
    assert back is not None
    assert back.tzinfo is UTC
    assert moment.process_bind_param(None, dialect) is moment.process_result_value(None, dialect) is None


def test_a_moment_needs_its_zone() -> None:
    with pytest.raises(ValueError, match="zone"):
        Moment().process_bind_param(datetime(2026, 1, 2), sqlite.dialect())


@pytest.mark.parametrize("dialect", [sqlite.dialect(), postgresql.dialect()])
@pytest.mark.parametrize(
    ("moment", "hours", "bound"), [(datetime.min, 14, datetime.min), (datetime.max, -14, datetime.max)]
)
def test_a_moment_beyond_the_calendar_in_utc_is_its_edge(
    dialect: sa.Dialect, moment: datetime, hours: int, bound: datetime
) -> None:
    given = moment.replace(tzinfo=timezone(timedelta(hours=hours)))
    stored = Moment().process_bind_param(given, dialect)
    assert stored is not None
    assert stored.replace(tzinfo=None) == bound
