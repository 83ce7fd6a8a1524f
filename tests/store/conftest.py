"""A real database in a folder of its own, and values to put in it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from opora.domain.knowledge import Chunk, Document, KnowledgeBase
from opora.domain.scope import BaseRef, Principal, Scope
from opora.store.database import SqlDatabase

NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


@pytest.fixture(params=["sqlite", "postgresql"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SqlDatabase]:
    """Each kind of database that there is: what holds for one holds for the other."""
    if request.param == "postgresql":
        url = await request.getfixturevalue("postgres_server").create()
    else:
        url = f"sqlite+aiosqlite:///{tmp_path}/opora.db"
    database = await SqlDatabase(url).open()
    yield database
    await database.close()


@pytest.fixture
async def file_database(tmp_path: Path) -> AsyncIterator[SqlDatabase]:
    """One in ``opora.db`` of the test's folder, for what only a file can have."""
    database = await SqlDatabase(f"sqlite+aiosqlite:///{tmp_path}/opora.db").open()
    yield database
    await database.close()


@pytest.fixture
def scope_of() -> Callable[..., Scope]:
    def make(*base_ids: str, tenant_id: str = "default", user_id: str = "local", **limits: Any) -> Scope:
        refs = tuple(BaseRef(base_id=base_id, tenant_id=tenant_id) for base_id in base_ids)
        return Scope(principal=Principal(tenant_id=tenant_id, user_id=user_id), bases=refs, **limits)

    return make


@pytest.fixture
def base_of() -> Callable[..., KnowledgeBase]:
    def make(base_id: str = "kb-1", **values: Any) -> KnowledgeBase:
        given = {"tenant_id": "default", "name": base_id, "created_at": NOW, "updated_at": NOW} | values
        return KnowledgeBase(base_id=base_id, **given)

    return make


@pytest.fixture
def document_of() -> Callable[..., Document]:
    def make(document_id: str = "d-1", **values: Any) -> Document:
        given = {
            "base_id": "kb-1",
            "tenant_id": "default",
            "title": document_id,
            "file_name": f"{document_id}.txt",
            "file_type": "txt",
            "file_size": 3,
            "file_hash": f"hash of {document_id}",
            "created_at": NOW,
            "updated_at": NOW,
        }
        return Document(document_id=document_id, **(given | values))

    return make


@pytest.fixture
def chunk_of() -> Callable[..., Chunk]:
    def make(chunk_id: str, **values: Any) -> Chunk:
        given = {
            "base_id": "kb-1",
            "tenant_id": "default",
            "document_id": "d-1",
            "chunk_index": 0,
            "content": f"text of {chunk_id}",
        }
        return Chunk(chunk_id=chunk_id, **(given | values))

    return make
