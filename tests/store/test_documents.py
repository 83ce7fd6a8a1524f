"""Documents: the same bytes once, seen through a scope only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from opora.domain.errors import Conflict, Forbidden, NotFound
from opora.domain.knowledge import Document, KnowledgeBase, ParseStatus
from opora.domain.scope import Scope
from opora.ports import Page
from opora.store.database import SqlDatabase

ALL = Page(page_size=100)


@pytest.fixture
async def filled(
    database: SqlDatabase, base_of: Callable[..., KnowledgeBase], document_of: Callable[..., Document]
) -> SqlDatabase:
    """Two bases of one tenant and one of another."""
    async with database.begin() as stored:
        for base_id, tenant_id in (("kb-1", "default"), ("kb-2", "default"), ("kb-3", "other")):
            await stored.bases.add(base_of(base_id, tenant_id=tenant_id))
    return database


async def test_a_document_comes_back_as_it_was(
    filled: SqlDatabase, scope_of: Callable[..., Scope], document_of: Callable[..., Document]
) -> None:
    document = document_of(
        metadata={"pages": 3, "слово": ["а"]}, tag_ids=("t1", "t2"), parse_status=ParseStatus.FAILED, error_reason="x"
    )
    async with filled.begin() as stored:
        await stored.documents.add(scope_of("kb-1"), document)
        assert await stored.documents.get(scope_of("kb-1"), "d-1") == document
        changed = replace(document, title="другое", version=2, indexed_version=1, metadata={})
        await stored.documents.update(scope_of("kb-1"), changed)
        assert await stored.documents.get(scope_of("kb-1"), "d-1") == changed


async def test_the_same_bytes_are_stored_once_a_base(
    filled: SqlDatabase, scope_of: Callable[..., Scope], document_of: Callable[..., Document]
) -> None:
    scope = scope_of("kb-1", "kb-2")
    async with filled.begin() as stored:
        await stored.documents.add(scope, document_of("d-1", file_hash="same"))
        await stored.documents.add(scope, document_of("d-2", file_hash="same", base_id="kb-2"))
        with pytest.raises(Conflict) as caught:
            await stored.documents.add(scope, document_of("d-3", file_hash="same"))
        assert caught.value.details["document_id"] == "d-1"
        gone = replace(await stored.documents.get(scope, "d-1"), parse_status=ParseStatus.DELETING)
        await stored.documents.update(scope, gone)
        await stored.documents.add(scope, document_of("d-3", file_hash="same"))
        found = await stored.documents.by_hash(scope, "kb-1", "same")
        assert found is not None
        assert found.document_id == "d-3"


async def test_an_update_to_bytes_that_are_there_is_a_conflict(
    filled: SqlDatabase, scope_of: Callable[..., Scope], document_of: Callable[..., Document]
) -> None:
    scope = scope_of("kb-1")
    async with filled.begin() as stored:
        await stored.documents.add(scope, document_of("d-1", file_hash="one"))
        await stored.documents.add(scope, document_of("d-2", file_hash="two"))
    async with filled.begin() as stored:
        with pytest.raises(Conflict):
            await stored.documents.update(scope, document_of("d-2", file_hash="one"))


async def test_a_base_that_is_not_there_takes_no_document(
    filled: SqlDatabase, scope_of: Callable[..., Scope], document_of: Callable[..., Document]
) -> None:
    async with filled.begin() as stored:
        with pytest.raises(NotFound):
            await stored.documents.add(scope_of("kb-9"), document_of(base_id="kb-9"))
        with pytest.raises(Forbidden):
            await stored.documents.add(scope_of("kb-1"), document_of(base_id="kb-2"))
        with pytest.raises(NotFound):
            await stored.documents.add(scope_of("kb-3", tenant_id="other"), document_of(base_id="kb-3"))


async def test_nothing_is_seen_or_touched_outside_the_scope(
    filled: SqlDatabase, scope_of: Callable[..., Scope], document_of: Callable[..., Document]
) -> None:
    mine = scope_of("kb-1")
    strangers = [
        scope_of("kb-2"),
        scope_of(),
        scope_of("kb-1", tenant_id="other"),
        scope_of("kb-1", document_ids=frozenset({"d-9"})),
    ]
    async with filled.begin() as stored:
        document = document_of(source="/a")
        await stored.documents.add(mine, document)
        for scope in strangers:
            with pytest.raises(NotFound):
                await stored.documents.get(scope, "d-1")
            assert await stored.documents.get_many(scope, ["d-1"]) == {}
            assert (await stored.documents.browse(scope, ALL)).total == 0
            assert await stored.documents.by_source(scope, "kb-1", "/") == []
            assert await stored.documents.ids(scope) == []
            assert await stored.documents.count_unembedded(scope) == 0
        for scope in strangers[:3]:
            assert await stored.documents.by_hash(scope, "kb-1", document.file_hash) is None
            with pytest.raises(NotFound):
                await stored.documents.update(scope, replace(document, title="stolen"))
            await stored.documents.delete(scope, "d-1")
        with pytest.raises(NotFound):
            await stored.documents.owner("other", "d-1")
        assert await stored.documents.owner("default", "d-1") == "kb-1"
        assert await stored.documents.get(mine, "d-1") == document


async def test_lists_are_newest_first_and_filtered(
    filled: SqlDatabase, scope_of: Callable[..., Scope], document_of: Callable[..., Document]
) -> None:
    scope = scope_of("kb-1")
    start = document_of().created_at
    async with filled.begin() as stored:
        for number in range(5):
            await stored.documents.add(
                scope,
                document_of(
                    f"d-{number}",
                    title=f"Отчёт {number}",
                    created_at=start + timedelta(seconds=number),
                    source=f"/data/{'A' if number % 2 else 'a'}/{number}",
                    parse_status=ParseStatus.DELETING if number == 4 else ParseStatus.PENDING,
                ),
            )
        listed = await stored.documents.browse(scope, Page(page=1, page_size=3))
        assert [document.document_id for document in listed.items] == ["d-3", "d-2", "d-1"]
        assert listed.total == 4
        listed = await stored.documents.browse(scope, Page(page=2, page_size=3))
        assert [document.document_id for document in listed.items] == ["d-0"]
        assert (await stored.documents.browse(scope, ALL, name="ОТЧЕТ 2")).total == 1
        assert (await stored.documents.browse(scope, ALL, name="%")).total == 0
        assert (await stored.documents.browse(scope, ALL, status=ParseStatus.COMPLETED)).total == 0
        assert (await stored.documents.browse(scope, ALL, source_prefix="/data/A/")).total == 2
        sources = [document.source for document in await stored.documents.by_source(scope, "kb-1", "/data/a")]
        assert sources == ["/data/a/0", "/data/a/2"]
        assert len(await stored.documents.by_source(scope, "kb-1", "")) == 4
        assert await stored.documents.known(["d-4", "d-9"]) == {"d-4"}


async def test_a_base_is_hidden_at_once_and_removed_with_all_it_holds(
    filled: SqlDatabase, scope_of: Callable[..., Scope], document_of: Callable[..., Document]
) -> None:
    scope = scope_of("kb-1", "kb-2")
    async with filled.begin() as stored:
        await stored.documents.add(scope, document_of("d-1"))
        await stored.documents.add(scope, document_of("d-2", base_id="kb-2"))
        await stored.bases.hide(scope, "kb-1")
        assert await stored.bases.find("default", ["kb-1", "kb-2"]) == await stored.bases.find("default", ["kb-2"])
        assert (await stored.bases.browse("default", ALL)).total == 1
        assert [ref.base_id for ref in await stored.bases.refs(tenant_id="default")] == ["kb-2"]
        assert [item.document_id for item in (await stored.documents.browse(scope, ALL)).items] == ["d-2"]
        assert await stored.documents.ids(scope) == ["d-1", "d-2"]
        await stored.bases.delete(scope, "kb-1")
        await stored.bases.delete(scope, "kb-1")
        assert await stored.documents.ids(scope) == ["d-2"]
        with pytest.raises(NotFound):
            await stored.bases.hide(scope, "kb-1")


async def test_bases_are_found_by_name_and_changed(
    filled: SqlDatabase, scope_of: Callable[..., Scope], base_of: Callable[..., KnowledgeBase]
) -> None:
    async with filled.begin() as stored:
        base = base_of("kb-4", name="Приказы и ПОЛОЖЕНИЯ", is_pinned=True)
        await stored.bases.add(base)
        assert [item.base_id for item in (await stored.bases.browse("default", ALL)).items] == ["kb-4", "kb-1", "kb-2"]
        assert (await stored.bases.browse("default", ALL, name="положения")).items == (base,)
        renamed = replace(base, name="Другое", embedding_model_id="m")
        await stored.bases.update(scope_of("kb-4"), renamed)
        assert await stored.bases.find("default", ["kb-4"]) == [renamed]
        with pytest.raises(NotFound):
            await stored.bases.update(scope_of("kb-4", tenant_id="other"), base)
        with pytest.raises(Forbidden):
            await stored.bases.update(scope_of("kb-1"), base)
        assert {ref.tenant_id for ref in await stored.bases.refs(base_ids=["kb-3"])} == {"other"}
