"""Names, statistics, hidden bases and copies in each kind of database."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from opora.domain.bases import BaseCopy, BaseStatistics, CopyStatus
from opora.domain.errors import NotFound
from opora.domain.knowledge import ParseStatus
from opora.ports import Page
from opora.store.database import SqlDatabase

from .conftest import NOW


async def test_names_are_found_in_any_case_and_while_they_are_copied(
    database: SqlDatabase, base_of: Any, scope_of: Any
) -> None:
    scope = scope_of("a", "b", "c")
    task = BaseCopy(task_id="t", tenant_id="default", source_id="a", target_id="c", created_at=NOW, updated_at=NOW)
    async with database.begin() as stored:
        await stored.bases.add(base_of("a", name="Учёт"))
        await stored.bases.add(base_of("b", name="УЧЕТ", created_at=NOW + timedelta(1)))
        await stored.bases.add(base_of("other", name="Учёт", tenant_id="another"))
        await stored.bases.add(base_of("c", name="Копия"), is_hidden=True)
        assert await stored.bases.by_name("default", "копия") == []
        await stored.copies.add(task)
        assert [one.base_id for one in await stored.bases.by_name("default", "учет")] == ["a", "b"]
        assert [one.base_id for one in await stored.bases.by_name("default", "копия")] == ["c"]
        await stored.bases.hide(scope, "b")
        await stored.copies.update(scope, replace(task, status=CopyStatus.FAILED))
        assert [one.base_id for one in await stored.bases.by_name("default", "учёт")] == ["a"]
        assert await stored.bases.by_name("default", "копия") == []


async def test_a_hidden_base_and_what_it_holds_are_out_of_sight(
    database: SqlDatabase, base_of: Any, document_of: Any, chunk_of: Any, scope_of: Any
) -> None:
    scope = scope_of("kb-1")
    async with database.begin() as stored:
        await stored.bases.add(base_of(), is_hidden=True)
        with pytest.raises(NotFound):
            await stored.documents.add(scope, document_of())
        await stored.documents.add(scope, document_of(), into_hidden=True)
        await stored.chunks.put(scope, document_of(), [chunk_of("c-1")])
        assert (await stored.bases.browse("default", Page())).total == 0
        assert await stored.bases.refs(tenant_id="default") == []
        assert (await stored.bases.hidden(scope, "kb-1")) == base_of()
        for reach in (
            stored.documents.owner("default", "d-1"),
            stored.chunks.owner("default", chunk_of("c-1").chunk_id),
            stored.bases.statistics(scope, "kb-1"),
        ):
            with pytest.raises(NotFound):
                await reach
        await stored.bases.show(scope, "kb-1")
        assert await stored.bases.hidden(scope, "kb-1") is None
        assert await stored.documents.owner("default", "d-1") == "kb-1"
        assert await stored.chunks.owner("default", chunk_of("c-1").chunk_id) == ("kb-1", "d-1")
        with pytest.raises(NotFound):
            await stored.documents.add(scope, document_of("d-2", file_hash="2"), into_hidden=True)


async def test_statistics(database: SqlDatabase, base_of: Any, document_of: Any, scope_of: Any) -> None:
    scope = scope_of("kb-1")
    later = NOW + timedelta(hours=1)
    async with database.begin() as stored:
        await stored.bases.add(base_of())
        assert await stored.bases.statistics(scope, "kb-1") == BaseStatistics(changed_at=NOW)
        for number, status in enumerate([ParseStatus.COMPLETED, ParseStatus.COMPLETED, *ParseStatus]):
            document = document_of(
                f"d-{number}",
                file_hash=str(number),
                file_type=("txt", "md")[number % 2],
                parse_status=status,
                chunk_count=10,
                embedded_count=number,
                file_size=100,
                updated_at=later if status is ParseStatus.FAILED else NOW,
            )
            await stored.documents.add(scope, document)
        found = await stored.bases.statistics(scope, "kb-1")
    live = [status for status in ParseStatus if status is not ParseStatus.DELETING]
    assert found.documents == dict.fromkeys(live, 1) | {ParseStatus.COMPLETED: 3}
    assert (found.chunks, found.embedded, found.file_bytes) == (60, 0 + 1 + 2 + 3 + 4 + 5, 600)
    assert (found.entries, found.changed_at) == (0, later)


async def test_a_copy_is_kept_for_its_tenant(database: SqlDatabase, scope_of: Any) -> None:
    task = BaseCopy(task_id="t", tenant_id="default", source_id="a", target_id="c", created_at=NOW, updated_at=NOW)
    async with database.begin() as stored:
        await stored.copies.add(task)
        done = replace(task, status=CopyStatus.COMPLETED, total=3, done=3, error="e", updated_at=NOW + timedelta(1))
        await stored.copies.update(scope_of(tenant_id="another"), done)
        assert await stored.copies.get(scope_of(), "t") == task
        await stored.copies.update(scope_of(), done)
        assert await stored.copies.get(scope_of(), "t") == done
        with pytest.raises(NotFound):
            await stored.copies.get(scope_of(tenant_id="another"), "t")
