"""Folders, facts for filters, owners, and the move of a document between bases, in either database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from opora.domain.errors import Conflict
from opora.domain.filters import read_filter
from opora.domain.knowledge import Chunk, Document, KnowledgeBase, Origin
from opora.domain.scope import Scope
from opora.domain.work import Work, WorkKind
from opora.ports import Page
from opora.store.database import SqlDatabase

from .conftest import NOW


@pytest.fixture
async def filled(
    database: SqlDatabase,
    base_of: Callable[..., KnowledgeBase],
    document_of: Callable[..., Document],
    chunk_of: Callable[..., Chunk],
    scope_of: Callable[..., Scope],
) -> SqlDatabase:
    scope = scope_of("kb-1", "kb-2")
    async with database.begin() as stored:
        await stored.bases.add(base_of())
        await stored.bases.add(base_of("kb-2"))
        for number, folder in enumerate(("", "a", "a/b", "ab", "a%")):
            document = document_of(f"d-{number}", folder=folder, metadata={"n": number}, origin=Origin.MANUAL)
            await stored.documents.add(scope, document)
            await stored.chunks.put(scope, document, [chunk_of(f"c-{number}", document_id=f"d-{number}")])
    return database


@pytest.mark.parametrize(("folder", "expected"), [("", "01234"), ("a", "12"), ("a/b", "2"), ("a%", "4"), ("b", "")])
async def test_a_folder_holds_what_lies_inside_it(
    filled: SqlDatabase, scope_of: Callable[..., Scope], folder: str, expected: str
) -> None:
    async with filled.read() as stored:
        found = await stored.documents.fitting(scope_of("kb-1"), folder=folder)
        assert "".join(sorted(key[-1] for key in found)) == expected
        listed = await stored.documents.browse(scope_of("kb-1"), Page(), folder=folder)
        assert listed.total == len(expected)
        assert await stored.documents.fitting(scope_of("kb-1", tenant_id="other"), folder=folder) == frozenset()


@pytest.mark.parametrize(
    ("field", "test"),
    [
        ("n", {"equals": 2}),
        ("@folder", {"equals": "a/b"}),
        ("@title", {"equals": "d-2"}),
        ("@created_at", {"range": {"gte": "2026-01-02", "lte": "2026-01-02"}}),
        ("@origin", {"equals": "manual"}),
    ],
)
async def test_a_filter_looks_at_metadata_and_what_is_known_of_every_document(
    filled: SqlDatabase, scope_of: Callable[..., Scope], field: str, test: dict[str, Any]
) -> None:
    async with filled.read() as stored:
        for folder, expected in (("a/b", frozenset({"d-2"})), ("b", frozenset())):
            fits = read_filter({"field": field, **test})
            assert await stored.documents.fitting(scope_of("kb-1"), folder=folder, fits=fits) == expected


async def test_folders_and_owners(filled: SqlDatabase, scope_of: Callable[..., Scope]) -> None:
    async with filled.read() as stored:
        folders = await stored.documents.folders(scope_of("kb-1"))
        assert folders == {"": 1, "a": 1, "a%": 1, "a/b": 1, "ab": 1}
        assert await stored.documents.owners("default", ["d-0", "absent"]) == {"d-0": "kb-1"}
        assert await stored.documents.owners("other", ["d-0"]) == {}


async def test_more_documents_than_a_statement_has_parameters(
    filled: SqlDatabase, scope_of: Callable[..., Scope]
) -> None:
    many = frozenset({"d-1", "d-2", *(f"absent-{number}" for number in range(70_000))})
    scope = scope_of("kb-1", document_ids=many)
    async with filled.read() as stored:
        assert sorted(await stored.documents.ids(scope)) == ["d-1", "d-2"]
        assert sorted(await stored.chunks.ids(scope)) == ["c-1", "c-2"]
        assert sorted(await stored.chunks.hydrate(scope, ["c-0", "c-1", "c-2"])) == ["c-1", "c-2"]
        assert await stored.revisions.lineage(scope, "c-1") == []


async def test_a_document_moves_with_all_that_belongs_to_it(
    filled: SqlDatabase, scope_of: Callable[..., Scope], document_of: Callable[..., Document]
) -> None:
    both = scope_of("kb-1", "kb-2")
    kinds = (WorkKind.REINDEX, WorkKind.LEAVE_BASE)
    async with filled.begin() as stored:
        for kind in kinds:
            common = {"tenant_id": "default", "base_id": "kb-1", "not_before": NOW, "created_at": NOW}
            await stored.work.add(Work(work_id=kind.value, kind=kind, subject="d-1", **common))
        moved = document_of("d-1", base_id="kb-2")
        await stored.documents.move(both, moved)
        assert (await stored.documents.get(scope_of("kb-2"), "d-1")).folder == "a"
        assert await stored.chunks.ids(scope_of("kb-2")) == {"c-1"}
        assert "c-1" not in await stored.chunks.ids(scope_of("kb-1"))
        held = [await stored.work.lease("me", NOW, NOW, [kind]) for kind in kinds]
        assert [one.base_id for one in held if one] == ["kb-2", "kb-1"]
        await stored.documents.add(both, document_of("twin", base_id="kb-2", file_hash="hash of d-2"))
        with pytest.raises(Conflict) as caught:
            await stored.documents.move(both, document_of("d-2", base_id="kb-2"))
        assert caught.value.details["document_id"] == "twin"
