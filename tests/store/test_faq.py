"""FAQ entries in each kind of database: numbers, questions, lists, imports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import count

import pytest

from opora.domain.errors import Forbidden, NotFound
from opora.domain.faq import FaqEntry
from opora.domain.faq_entry import FaqDraft, FaqRecord
from opora.domain.faq_import import FaqImport, ImportMode, ImportStatus, RowProblem
from opora.domain.forms import question_hash
from opora.domain.knowledge import BaseType, KnowledgeBase
from opora.domain.scope import Scope
from opora.index.faq import FaqWriter
from opora.ports import Page, Repositories
from opora.store.database import SqlDatabase

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def draft(question: str, *similar: str, **more: object) -> FaqDraft:
    entry = FaqEntry(standard_question=question, similar_questions=similar, answers=("Да.",))
    return FaqDraft(entry=entry, **more)  # type: ignore[arg-type]


@pytest.fixture
async def filled(
    database: SqlDatabase, scope_of: Callable[..., Scope], base_of: Callable[..., KnowledgeBase]
) -> SqlDatabase:
    async with database.begin() as stored:
        await stored.bases.add(base_of("kb-1", base_type=BaseType.FAQ))
        await stored.bases.add(base_of("kb-2", base_type=BaseType.FAQ))
    return database


@pytest.fixture
def add(scope_of: Callable[..., Scope], base_of: Callable[..., KnowledgeBase]) -> Callable[..., object]:
    ids = count()

    async def added(stored: Repositories, base_id: str, drafts: Sequence[FaqDraft]) -> list[FaqRecord]:
        writer = FaqWriter(
            stored=stored,
            scope=scope_of(base_id, include_disabled=True),
            base=base_of(base_id, base_type=BaseType.FAQ),
            model=None,
            now=NOW,
            new_id=lambda: f"{base_id}-{next(ids)}",
        )
        return await writer.add(drafts)

    return added


async def test_numbers_are_never_given_twice(filled: SqlDatabase, scope_of: Callable[..., Scope]) -> None:
    async with filled.begin() as stored:
        assert await stored.faq.number(scope_of("kb-1"), "kb-1", 3) == 1
        assert await stored.faq.number(scope_of("kb-2"), "kb-2", 1) == 1
        assert await stored.faq.number(scope_of("kb-1"), "kb-1", 2) == 4
        with pytest.raises(Forbidden):
            await stored.faq.number(scope_of("kb-1"), "kb-2", 1)


async def test_entries_are_listed_and_their_questions_held(
    filled: SqlDatabase, scope_of: Callable[..., Scope], add: Callable[..., object]
) -> None:
    scope = scope_of("kb-1")
    async with filled.begin() as stored:
        one, two = await add(stored, "kb-1", [draft("Один?", "Раз?", tag_ids=("t",)), draft("Два?", is_enabled=False)])  # type: ignore[misc]
        await add(stored, "kb-2", [draft("Один?")])  # type: ignore[misc]
    async with filled.read() as stored:
        listed = await stored.faq.browse(scope, "kb-1", Page())
        assert listed.items == (one, two)
        assert (await stored.faq.browse(scope, "kb-1", Page(), tag_id="t")).items == (one,)
        assert (await stored.faq.browse(scope, "kb-1", Page(), is_enabled=False)).items == (two,)
        assert (await stored.faq.browse(scope, "kb-1", Page(), keyword="РАЗ")).items == (one,)
        held = await stored.faq.holders(scope, "kb-1", [question_hash("раз?"), question_hash("три?")])
        assert held == {question_hash("раз?"): one.entry_id}
        forms = await stored.chunks.forms(scope, [one.entry_id])
        assert {form.content for form in forms[one.entry_id]} == {"Один?", "Раз?"}
        assert set(await stored.chunks.get_many(scope, [form.chunk_id for form in forms[one.entry_id]])) == set()
        assert await stored.chunks.hydrate(scope, [form.chunk_id for form in forms[one.entry_id]]) == {}
        assert len(await stored.chunks.ids(scope)) == 2
    async with filled.begin() as stored:
        await stored.chunks.delete(scope, [one.entry_id])
        assert await stored.faq.holders(scope, "kb-1", [question_hash("раз?")]) == {}
        assert (await stored.faq.browse(scope, "kb-1", Page())).items == (two,)
        assert await stored.chunks.forms(scope, [one.entry_id]) == {}


async def test_an_import_is_kept_with_its_batches(filled: SqlDatabase, scope_of: Callable[..., Scope]) -> None:
    scope = scope_of("kb-1")
    task = FaqImport(
        task_id="t-1",
        tenant_id="default",
        base_id="kb-1",
        mode=ImportMode.APPEND,
        status=ImportStatus.PROCESSING,
        total=3,
        done=1,
        problems=(RowProblem(row=2, message="Нет вопроса.", field="standard_question"),),
        created_at=NOW,
        updated_at=NOW,
    )
    async with filled.begin() as stored:
        await stored.faq.add_import(scope, task, ["a", "b"])
    async with filled.begin() as stored:
        assert await stored.faq.get_import(scope, "t-1") == task
        assert await stored.faq.import_base("default", "t-1") == "kb-1"
        assert await stored.faq.next_batches("t-1", limit=1) == [(0, "a")]
        await stored.faq.drop_batches("t-1", [0])
        assert await stored.faq.next_batches("t-1", limit=9) == [(1, "b")]
        with pytest.raises(NotFound):
            await stored.faq.import_base("another", "t-1")
        with pytest.raises(NotFound):
            await stored.faq.get_import(scope_of("kb-2"), "t-1")
