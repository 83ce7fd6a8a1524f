"""Counts of citations: by caller, of documents that are there, gone with the document."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from opora.domain.knowledge import Document, KnowledgeBase
from opora.domain.scope import Scope
from opora.store.database import SqlDatabase

ScopeOf = Callable[..., Scope]
DOCUMENTS = ("d-1", "d-2")


@pytest.fixture
async def filled(
    database: SqlDatabase,
    scope_of: ScopeOf,
    base_of: Callable[..., KnowledgeBase],
    document_of: Callable[..., Document],
) -> SqlDatabase:
    async with database.begin() as stored:
        for base_id in ("kb-1", "kb-2"):
            await stored.bases.add(base_of(base_id))
        for document_id in DOCUMENTS:
            await stored.documents.add(scope_of("kb-1"), document_of(document_id))
        await stored.documents.add(scope_of("kb-2"), document_of("d-other", base_id="kb-2"))
    return database


async def cite(database: SqlDatabase, scope: Scope, *document_ids: str) -> None:
    async with database.begin() as stored:
        await stored.citations.add(scope, document_ids)


async def uses(database: SqlDatabase, scope: Scope, *document_ids: str) -> dict[str, int]:
    async with database.read() as stored:
        return await stored.citations.uses(scope, document_ids or (*DOCUMENTS, "d-other", "d-gone"))


async def test_each_answer_counts_once_for_each_document(filled: SqlDatabase, scope_of: ScopeOf) -> None:
    assert await uses(filled, scope_of("kb-1")) == {}
    await cite(filled, scope_of("kb-1"), "d-1", "d-2", "d-1")
    await cite(filled, scope_of("kb-1"), "d-1")
    await cite(filled, scope_of("kb-1"))
    assert await uses(filled, scope_of("kb-1")) == {"d-1": 2, "d-2": 1}
    assert await uses(filled, scope_of("kb-1"), "d-2") == {"d-2": 1}


async def test_callers_count_for_themselves(filled: SqlDatabase, scope_of: ScopeOf) -> None:
    await cite(filled, scope_of("kb-1"), "d-1")
    assert await uses(filled, scope_of("kb-1", user_id="other")) == {}
    assert await uses(filled, scope_of("kb-1", tenant_id="other")) == {}


@pytest.mark.parametrize("document_id", ["d-gone", "d-other"])
async def test_what_is_gone_or_outside_the_scope_is_passed_over(
    filled: SqlDatabase, scope_of: ScopeOf, document_id: str
) -> None:
    await cite(filled, scope_of("kb-1"), document_id, "d-1")
    assert await uses(filled, scope_of("kb-1")) == {"d-1": 1}
    await cite(filled, scope_of("kb-1", tenant_id="other"), "d-1")
    assert await uses(filled, scope_of("kb-1", tenant_id="other")) == {}


async def test_counts_go_with_their_document(filled: SqlDatabase, scope_of: ScopeOf) -> None:
    await cite(filled, scope_of("kb-1"), *DOCUMENTS)
    async with filled.begin() as stored:
        await stored.documents.delete(scope_of("kb-1"), "d-1")
    assert await uses(filled, scope_of("kb-1")) == {"d-2": 1}
    async with filled.begin() as stored:
        await stored.bases.delete(scope_of("kb-1"), "kb-1")
    assert await uses(filled, scope_of("kb-1")) == {}
