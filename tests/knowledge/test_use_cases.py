"""What the use cases take and refuse; how documents travel on is tested with the jobs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from opora.access import Access
from opora.domain.errors import Forbidden, InvalidInput, NotFound, ParseFailed, TooLarge
from opora.domain.knowledge import ChunkingConfig, Document, IndexingStrategy, KnowledgeBase, ParseStatus
from opora.domain.scope import LOCAL_PRINCIPAL, Principal, Scope
from opora.domain.work import WorkKind
from opora.knowledge.bases import Bases
from opora.knowledge.documents import Documents
from opora.knowledge.metadata import MAX_METADATA_DEPTH
from opora.ports import Page
from opora.store.blobs import FileBlobs
from opora.store.database import SqlDatabase
from opora.store.ids import new_id

LIMIT = 1000


class Quiet:
    """Jobs that nobody works on."""

    changes = 0
    woken = 0

    def wake(self) -> None:
        self.woken += 1

    async def changed(self, seen: int) -> int:
        await asyncio.Event().wait()
        return seen

    def seconds_for(self, chunks: int) -> float | None:
        return None


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


class Room:
    def __init__(self, database: SqlDatabase, folder: Path) -> None:
        made: Any = {"clock": lambda: datetime.now(UTC), "new_id": new_id}
        self.database, self.blobs, self.jobs = database, FileBlobs(folder / "blobs"), Quiet()
        self.access = Access(database)
        self.bases = Bases(database, self.jobs, **made)
        parser: Any = None
        self.documents = Documents(database, self.blobs, parser, parser, self.jobs, upload_limit=LIMIT, **made)

    async def base(self) -> tuple[Scope, KnowledgeBase]:
        base = await self.bases.create(await self.access.tenant(LOCAL_PRINCIPAL), name="База")
        return await self.access.bases(LOCAL_PRINCIPAL, [base.base_id]), base


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    database = await SqlDatabase(f"sqlite+aiosqlite:///{tmp_path}/opora.db").open()
    yield Room(database, tmp_path)
    await database.close()


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": " \n\t"}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": "x", "description": "x" * 2001}, "description"),
        ({"name": "x", "chunking": ChunkingConfig(size=0)}, "size"),
        ({"name": "x", "chunking": ChunkingConfig(size=49, overlap=0)}, "size"),
        ({"name": "x", "chunking": ChunkingConfig(size=100, overlap=100)}, "overlap"),
        ({"name": "x", "chunking": ChunkingConfig(size=8000)}, "size"),
        ({"name": "x", "indexing": IndexingStrategy(vector=False, keyword=False)}, "indexing"),
    ],
)
async def test_a_base_that_does_not_fit_is_refused_by_field(room: Room, given: dict[str, Any], field: str) -> None:
    tenant = await room.access.tenant(LOCAL_PRINCIPAL)
    with pytest.raises(InvalidInput) as caught:
        await room.bases.create(tenant, **given)
    assert caught.value.details["field"] == field
    assert (await room.bases.browse(tenant, Page())).total == 0


async def test_a_base_is_made_changed_and_found(room: Room) -> None:
    scope, base = await room.base()
    changed = await room.bases.update(scope, base.base_id, name="  Приказы \n и\u202e ещё ", is_pinned=True)
    assert (changed.name, changed.is_pinned, changed.description) == ("Приказы и ещё", True, "")
    assert await room.bases.get(scope, base.base_id) == changed
    assert (await room.bases.browse(scope, Page(), name="ПРИКАЗЫ")).items == (changed,)
    with pytest.raises(Forbidden):
        await room.bases.get(await room.access.tenant(LOCAL_PRINCIPAL), base.base_id)


async def test_one_document_s_scope_never_deletes_its_base(room: Room) -> None:
    scope, base = await room.base()
    document = await room.documents.add_text(scope, base.base_id, title="Т", content="т")
    narrow = await room.access.document(LOCAL_PRINCIPAL, document.document_id)
    with pytest.raises(NotFound):
        await room.bases.delete(narrow, base.base_id)
    assert await room.bases.get(scope, base.base_id) == base


@pytest.mark.parametrize("extra", [0, 1])
async def test_the_upload_limit(room: Room, extra: int) -> None:
    scope, base = await room.base()
    data = b"x" * (LIMIT + extra)
    if not extra:
        assert (await room.documents.add_file(scope, base.base_id, file_name="a.txt", data=data)).file_size == LIMIT
        return
    with pytest.raises(TooLarge) as caught:
        await room.documents.add_file(scope, base.base_id, file_name="a.txt", data=data)
    assert caught.value.details == {"limit": LIMIT, "size": LIMIT + 1}
    assert await room.blobs.stored() == []


@pytest.mark.parametrize(
    ("sent", "kept", "title"),
    [
        ("../../etc/passwd", "passwd", "passwd"),
        ("C:\\tmp\\Отчёт.docx", "Отчёт.docx", "Отчёт"),
        ("a\x00b\u202etxt.exe", "abtxt.exe", "abtxt"),
        ("..", "document", "document"),
    ],
)
async def test_names_are_for_showing_only(room: Room, sent: str, kept: str, title: str) -> None:
    scope, base = await room.base()
    document = await room.documents.add_file(scope, base.base_id, file_name=sent, data=b"x")
    assert (document.file_name, document.title) == (kept, title)
    assert await room.blobs.stored() == [("default", document.document_id)]


async def test_a_file_and_its_work_are_one_transaction(room: Room) -> None:
    scope, base = await room.base()
    document = await room.documents.add_file(
        scope, base.base_id, file_name="a.txt", data=b"x", title=" Своё\n\u202e имя\0 "
    )
    assert (document.title, document.parse_status, document.version) == ("Своё имя", ParseStatus.PENDING, 1)
    assert await room.documents.get(scope, document.document_id) == document
    assert await room.documents.data(scope, document.document_id) == (document, b"x")
    assert room.jobs.woken == 1
    async with room.database.read() as stored:
        assert await stored.work.waiting(document.document_id) == {WorkKind.INGEST}
    assert (await room.documents.retry(scope, document.document_id)) == document, "what waits is left alone"


@pytest.mark.parametrize(
    ("title", "content", "field"), [("", "x", "title"), ("\u200b\n", "x", "title"), ("x", " \n", "content")]
)
async def test_a_text_needs_a_title_and_content(room: Room, title: str, content: str, field: str) -> None:
    scope, base = await room.base()
    with pytest.raises(InvalidInput) as caught:
        await room.documents.add_text(scope, base.base_id, title=title, content=content)
    assert caught.value.details["field"] == field


async def test_a_text_is_stored_as_markdown(room: Room) -> None:
    scope, base = await room.base()
    document = await room.documents.add_text(scope, base.base_id, title="Либо/или", content="# Да\n\nНет")
    assert (document.title, document.file_name) == ("Либо/или", "Либо или.md")
    assert (await room.documents.data(scope, document.document_id))[1].decode() == "# Да\n\nНет"


async def test_what_is_not_read_yet_has_no_text_and_no_pages(room: Room) -> None:
    scope, base = await room.base()
    document = await room.documents.add_text(scope, base.base_id, title="Т", content="т")
    for attempt in (
        room.documents.text(scope, document.document_id),
        room.documents.render_page(scope, document.document_id, 1),
    ):
        with pytest.raises(NotFound, match="not been read yet"):
            await attempt


async def test_only_pdf_has_pages(room: Room) -> None:
    scope, base = await room.base()
    document = await room.documents.add_text(scope, base.base_id, title="Т", content="т")
    async with room.database.begin() as stored:
        await stored.documents.update(scope, replace(document, indexed_version=1, file_type="md"))
    with pytest.raises(ParseFailed, match="Only PDF"):
        await room.documents.render_page(scope, document.document_id, 1)


async def test_a_foreign_scope_adds_nothing(room: Room) -> None:
    _, base = await room.base()
    stranger = await room.access.bases(Principal(tenant_id="other", user_id="x"))
    with pytest.raises(Forbidden):
        await room.documents.add_file(stranger, base.base_id, file_name="a.txt", data=b"x")
    assert await room.blobs.stored() == []


async def test_documents_are_listed_by_name_status_and_source(room: Room) -> None:
    scope, base = await room.base()
    made: list[Document] = [
        await room.documents.add_file(
            scope, base.base_id, file_name=f"Файл {n}.txt", data=b"%d" % n, source=f"/data/{n}"
        )
        for n in range(3)
    ]
    assert (await room.documents.browse(scope, Page(), name="файл 1")).items == (made[1],)
    assert (await room.documents.browse(scope, Page(), source_prefix="/data/2")).items == (made[2],)
    assert (await room.documents.browse(scope, Page(), status=ParseStatus.COMPLETED)).total == 0
    assert (await room.documents.browse(scope, Page(page_size=2))).total == 3


@pytest.mark.parametrize("gone", ["hidden", "taken out"])
async def test_a_source_that_is_deleted_while_it_is_replaced_becomes_a_new_document(room: Room, gone: str) -> None:
    """The upload came last, so its content stays, and nothing of the deleted document does."""
    scope, base = await room.base()
    given: dict[str, Any] = {"file_name": "a.txt", "source": "a.txt", "replace": True}
    earlier = await room.documents.add_file(scope, base.base_id, data=b"one", **given)
    put = room.blobs.put

    async def put_late(tenant_id: str, document_id: str, version: int, data: bytes, *, part: str = "original") -> None:
        if document_id == earlier.document_id:
            await room.documents.delete(scope, document_id)
            if gone == "taken out":
                await room.blobs.delete(tenant_id, document_id)
                async with room.database.begin() as stored:
                    await stored.documents.delete(scope, document_id)
        await put(tenant_id, document_id, version, data, part=part)

    room.blobs.put = put_late  # type: ignore[method-assign]
    new = await room.documents.add_file(scope, base.base_id, data=b"two", **given)
    assert (new.document_id != earlier.document_id, new.version, new.source) == (True, 1, "a.txt")
    assert await room.documents.data(scope, new.document_id) == (new, b"two")
    assert await room.blobs.stored() == [("default", new.document_id)]


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        [-float("inf")],
        "\ud800",
        {"\udfff": 1},
        {1, 2},
        nested(MAX_METADATA_DEPTH + 1),
        nested(99_999),
    ],
    ids=["nan", "infinity", "within", "surrogate", "surrogate name", "set", "deep", "very deep"],
)
async def test_metadata_that_json_can_t_carry_is_refused(room: Room, value: Any) -> None:
    scope, base = await room.base()
    with pytest.raises(InvalidInput) as caught:
        await room.documents.add_text(scope, base.base_id, title="Т", content="т", metadata={"a": value})
    assert caught.value.details["field"] == "metadata"
    assert await room.blobs.stored() == []


async def test_metadata_may_nest(room: Room) -> None:
    scope, base = await room.base()
    metadata = {"a": nested(MAX_METADATA_DEPTH), "b": "Ё\0", "c": None, "d": 10**30}
    document = await room.documents.add_text(scope, base.base_id, title="Т", content="т", metadata=metadata)
    assert (await room.documents.get(scope, document.document_id)).metadata == metadata
