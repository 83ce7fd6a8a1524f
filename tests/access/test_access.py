"""The chokepoint: who asks, and what they may touch."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from opora.access import Access
from opora.domain.errors import Forbidden, NotFound, Unauthenticated
from opora.domain.knowledge import Chunk, Document, KnowledgeBase, ParseStatus
from opora.domain.scope import LOCAL_PRINCIPAL, BaseRef, Principal
from opora.domain.tags import Tag
from opora.store.database import SqlDatabase

NOW = datetime(2026, 1, 2, tzinfo=UTC)
OTHER = Principal(tenant_id="other", user_id="somebody")
TIMES = {"created_at": NOW, "updated_at": NOW}


@pytest.fixture
async def access(tmp_path: Path) -> AsyncIterator[Access]:
    """Two bases of the local tenant, one of another; a document with a chunk in each."""
    database = await SqlDatabase(f"sqlite+aiosqlite:///{tmp_path}/opora.db").open()
    access = Access(database, api_keys={"key-1": LOCAL_PRINCIPAL, "key-2": OTHER})
    async with database.begin() as stored:
        for base_id, tenant_id in (("kb-1", "default"), ("kb-2", "default"), ("kb-3", "other")):
            await stored.bases.add(KnowledgeBase(base_id=base_id, tenant_id=tenant_id, name=base_id, **TIMES))
            document = Document(
                document_id=f"d-{base_id}",
                base_id=base_id,
                tenant_id=tenant_id,
                title="",
                file_name="",
                file_type="",
                file_size=0,
                file_hash="",
                **TIMES,
            )
            scope = access.worker(tenant_id, base_id)
            await stored.documents.add(scope, document)
            chunk = Chunk(
                chunk_id=f"c-{base_id}",
                base_id=base_id,
                tenant_id=tenant_id,
                document_id=document.document_id,
                chunk_index=0,
                content="x",
            )
            await stored.chunks.replace_document(scope, document, [chunk])
    yield access
    await database.close()


def test_without_keys_everybody_is_the_local_user() -> None:
    access = Access(None)  # type: ignore[arg-type]  # nothing is read to authenticate
    assert access.authenticate(None) is LOCAL_PRINCIPAL
    assert access.authenticate("whatever") is LOCAL_PRINCIPAL


@pytest.mark.parametrize("key", [None, "", "key-3", "KEY-1", "key-1 ", "\ud800"])
async def test_with_keys_nobody_comes_in_without_one(access: Access, key: str | None) -> None:
    with pytest.raises(Unauthenticated):
        access.authenticate(key)


async def test_a_key_names_its_principal(access: Access) -> None:
    assert access.authenticate("key-1") == LOCAL_PRINCIPAL
    assert access.authenticate("key-2") == OTHER


async def test_all_bases_of_the_tenant_and_no_others(access: Access) -> None:
    scope = await access.bases(LOCAL_PRINCIPAL)
    assert scope.base_ids == ("kb-1", "kb-2")
    assert (await access.bases(OTHER)).bases == (BaseRef(base_id="kb-3", tenant_id="other"),)
    assert (await access.tenant(OTHER)).bases == ()


async def test_asked_bases_keep_their_order_and_stand_once(access: Access) -> None:
    whole = await access.bases(LOCAL_PRINCIPAL)
    given = {"tenant_id": "default", "base_id": "kb-1", "created_at": NOW, "updated_at": NOW}
    async with access._database.begin() as stored:
        await stored.tags.add(whole, Tag(tag_id="t", name="Кадры", **given))
    scope = await access.bases(LOCAL_PRINCIPAL, ["kb-2", "kb-1", "kb-2"], document_ids=["d"], tag_ids=["t"])
    assert scope.base_ids == ("kb-2", "kb-1")
    assert (scope.document_ids, scope.tag_ids, scope.include_disabled) == (frozenset({"d"}), frozenset({"t"}), False)
    assert (await access.bases(LOCAL_PRINCIPAL, [])).bases == ()
    assert (await access.bases(LOCAL_PRINCIPAL, ["kb-1"], document_ids=[])).document_ids == frozenset()


@pytest.mark.parametrize("base_ids", [None, ["kb-2"]])
async def test_a_tag_that_is_in_none_of_the_bases_is_not_found(access: Access, base_ids: list[str] | None) -> None:
    with pytest.raises(NotFound, match="tag"):
        await access.bases(LOCAL_PRINCIPAL, base_ids, tag_ids=["t"])


async def test_a_foreign_base_is_forbidden_and_looks_absent(access: Access) -> None:
    with pytest.raises(NotFound) as absent:
        await access.bases(LOCAL_PRINCIPAL, ["kb-1", "kb-9"])
    with pytest.raises(Forbidden) as foreign:
        await access.bases(LOCAL_PRINCIPAL, ["kb-1", "kb-3"])
    assert absent.value.message == foreign.value.message


async def test_a_document_or_a_chunk_opens_one_document_only(access: Access) -> None:
    for scope in (
        await access.document(LOCAL_PRINCIPAL, "d-kb-1"),
        await access.chunk(LOCAL_PRINCIPAL, "c-kb-1"),
    ):
        assert scope.base_ids == ("kb-1",)
        assert scope.document_ids == frozenset({"d-kb-1"})
        assert (scope.principal, scope.include_disabled) == (LOCAL_PRINCIPAL, True)


@pytest.mark.parametrize("name", ["kb-3", "kb-9"])
async def test_foreign_and_absent_documents_look_the_same(access: Access, name: str) -> None:
    with pytest.raises(NotFound, match=r"^There is no such document\.$"):
        await access.document(LOCAL_PRINCIPAL, f"d-{name}")
    with pytest.raises(NotFound, match=r"^There is no such chunk\.$"):
        await access.chunk(LOCAL_PRINCIPAL, f"c-{name}")


async def test_what_is_being_deleted_is_closed_at_once(access: Access) -> None:
    scope = await access.document(LOCAL_PRINCIPAL, "d-kb-1")
    async with access._database.begin() as stored:
        document = await stored.documents.get(scope, "d-kb-1")
        await stored.documents.update(scope, replace(document, parse_status=ParseStatus.DELETING))
        await stored.bases.hide(access.worker("default", "kb-2"), "kb-2")
    for attempt in (
        access.document(LOCAL_PRINCIPAL, "d-kb-1"),
        access.chunk(LOCAL_PRINCIPAL, "c-kb-1"),
        access.document(LOCAL_PRINCIPAL, "d-kb-2"),
        access.chunk(LOCAL_PRINCIPAL, "c-kb-2"),
        access.bases(LOCAL_PRINCIPAL, ["kb-2"]),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert (await access.bases(LOCAL_PRINCIPAL)).base_ids == ("kb-1",)
