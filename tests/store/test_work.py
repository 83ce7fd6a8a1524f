"""The queue of work: each thing once, one holder a subject, nothing lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from opora.domain.knowledge import Document, KnowledgeBase, ParseStatus
from opora.domain.scope import Scope
from opora.domain.work import Work, WorkKind
from opora.store.database import SqlDatabase

NOW = datetime(2026, 1, 2, tzinfo=UTC)
LATER = NOW + timedelta(seconds=60)


@pytest.fixture
def work_of() -> Callable[..., Work]:
    numbers: Iterator[int] = count()

    def make(subject: str = "d-1", kind: WorkKind = WorkKind.INGEST, **values: object) -> Work:
        number = next(numbers)
        given = {
            "work_id": f"w-{number}",
            "tenant_id": "default",
            "base_id": "kb-1",
            "not_before": NOW,
            "created_at": NOW + timedelta(microseconds=number),
        }
        return Work(kind=kind, subject=subject, **(given | values))  # type: ignore[arg-type]

    return make


async def test_the_oldest_due_work_comes_first(database: SqlDatabase, work_of: Callable[..., Work]) -> None:
    async with database.begin() as stored:
        await stored.work.add(work_of("later", not_before=LATER))
        await stored.work.add(work_of("first"))
        await stored.work.add(work_of("second"))
        taken = [await stored.work.lease("me", NOW, LATER) for _ in range(3)]
        assert [item.subject if item else None for item in taken] == ["first", "second", None]
        assert taken[0] is not None
        assert (taken[0].lease_owner, taken[0].lease_until) == ("me", LATER)
        assert await stored.work.pending() == 3
        assert await stored.work.pending("other") == 0


async def test_only_the_asked_kinds_are_given_out(database: SqlDatabase, work_of: Callable[..., Work]) -> None:
    async with database.begin() as stored:
        await stored.work.add(work_of(kind=WorkKind.EMBED))
        assert await stored.work.lease("me", NOW, LATER, {WorkKind.INGEST}) is None
        assert await stored.work.lease("me", NOW, LATER, {WorkKind.EMBED}) is not None


async def test_the_same_work_waits_once_but_may_wait_while_it_is_done(
    database: SqlDatabase, work_of: Callable[..., Work]
) -> None:
    async with database.begin() as stored:
        for _ in range(3):
            await stored.work.add(work_of())
        assert await stored.work.pending() == 1
        held = await stored.work.lease("me", NOW, LATER)
        assert held is not None
        await stored.work.add(work_of())
        await stored.work.add(work_of())
        assert await stored.work.pending() == 2
        assert await stored.work.lease("you", NOW, LATER) is None, "one subject, one holder"
        await stored.work.finish(held.work_id)
        assert await stored.work.lease("you", NOW, LATER) is not None


async def test_a_dead_holder_is_followed_by_another(database: SqlDatabase, work_of: Callable[..., Work]) -> None:
    async with database.begin() as stored:
        await stored.work.add(work_of())
        held = await stored.work.lease("dead", NOW, LATER)
        assert held is not None
        assert await stored.work.extend(held.work_id, "dead", LATER + timedelta(seconds=1))
        assert await stored.work.lease("heir", LATER, LATER) is None
        after = LATER + timedelta(seconds=2)
        assert await stored.work.lease("heir", after, after + timedelta(seconds=60)) is not None
        assert not await stored.work.extend(held.work_id, "dead", after)


async def test_retrying_counts_waits_and_says_why(database: SqlDatabase, work_of: Callable[..., Work]) -> None:
    async with database.begin() as stored:
        await stored.work.add(work_of())
        held = await stored.work.lease("me", NOW, LATER)
        assert held is not None
        await stored.work.retry(held.work_id, LATER, "the engine is down")
        assert await stored.work.lease("me", NOW, LATER) is None
        again = await stored.work.lease("me", LATER, LATER)
        assert again is not None
        assert (again.attempts, again.error) == (1, "the engine is down")


async def test_letting_go_leaves_one_of_each(database: SqlDatabase, work_of: Callable[..., Work]) -> None:
    async with database.begin() as stored:
        for subject in ("a", "b"):
            await stored.work.add(work_of(subject))
        a, b = await stored.work.lease("me", NOW, LATER), await stored.work.lease("me", NOW, LATER)
        assert a is not None
        assert b is not None
        await stored.work.add(work_of("a"))
        await stored.work.add(work_of("b"))
        await stored.work.retry(a.work_id, NOW, "")
        await stored.work.release_all()
        assert await stored.work.pending() == 2
        assert await stored.work.lease("you", NOW, LATER) is not None
        assert await stored.work.lease("you", NOW, LATER) is not None


async def test_what_is_held_is_not_cancelled(database: SqlDatabase, work_of: Callable[..., Work]) -> None:
    async with database.begin() as stored:
        await stored.work.add(work_of())
        held = await stored.work.lease("me", NOW, LATER)
        await stored.work.add(work_of())
        await stored.work.cancel(WorkKind.INGEST, "d-1")
        assert await stored.work.pending() == 1
        assert held is not None
        assert await stored.work.extend(held.work_id, "me", LATER)
        assert await stored.work.waiting("d-1") == {WorkKind.INGEST}


async def test_a_base_is_deleted_alone(database: SqlDatabase, work_of: Callable[..., Work]) -> None:
    async with database.begin() as stored:
        await stored.work.add(work_of("d-1"))
        await stored.work.add(work_of("kb-1", WorkKind.DELETE_BASE))
        ingest = await stored.work.lease("me", NOW, LATER)
        assert ingest is not None
        assert await stored.work.lease("me", NOW, LATER) is None, "the base waits for what is under way in it"
        await stored.work.finish(ingest.work_id)
        delete = await stored.work.lease("me", NOW, LATER)
        assert delete is not None
        assert delete.kind is WorkKind.DELETE_BASE
        await stored.work.add(work_of("d-2"))
        await stored.work.add(work_of("d-3", base_id="kb-2"))
        other = await stored.work.lease("me", NOW, LATER)
        assert other is not None
        assert other.subject == "d-3"
        assert await stored.work.lease("me", NOW, LATER) is None


async def test_queue_for_documents_and_chunks_ahead(
    database: SqlDatabase,
    scope_of: Callable[..., Scope],
    base_of: Callable[..., KnowledgeBase],
    document_of: Callable[..., Document],
) -> None:
    numbers = count()
    scope = scope_of("kb-1")
    done = {"parse_status": ParseStatus.COMPLETED, "indexed_version": 1, "chunk_count": 10}
    async with database.begin() as stored:
        await stored.bases.add(base_of("kb-1"))
        await stored.documents.add(scope, document_of("d-1", **done, embedded_count=4))
        await stored.documents.add(scope, document_of("d-2", **done))
        await stored.documents.add(scope, document_of("d-3", **done, embedded_count=10))
        await stored.documents.add(scope, document_of("new"))
        await stored.documents.add(scope, document_of("gone", **(done | {"parse_status": ParseStatus.DELETING})))
        queued = await stored.work.add_for_documents(WorkKind.EMBED, NOW, lambda: f"e-{next(numbers)}")
        assert queued == 2
        assert await stored.work.chunks_ahead("d-1") == 6
        assert await stored.work.chunks_ahead("d-2") == 16
        assert await stored.work.chunks_ahead("d-3") is None
        statuses = {
            key: doc.parse_status.value for key, doc in (await stored.documents.get_many(scope, ["d-1", "d-3"])).items()
        }
        assert statuses == {"d-1": "processing", "d-3": "completed"}
        assert await stored.work.add_for_documents(WorkKind.REINDEX, NOW, lambda: f"r-{next(numbers)}", "kb-1") == 3
        assert await stored.work.add_for_documents(WorkKind.REINDEX, NOW, lambda: f"r-{next(numbers)}", "kb-2") == 0
        assert await stored.work.pending() == 5
        held = replace((await stored.work.lease("me", NOW, LATER)) or pytest.fail("nothing to do"), error="")
        assert held.subject in {"d-1", "d-2"}
