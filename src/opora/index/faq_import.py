"""Takes checked rows of an import into a base: those whose questions are free, the others named with the reason."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from opora.domain.codec import build, plain
from opora.domain.faq import STANDARD_QUESTION
from opora.domain.faq_entry import FaqDraft, FaqRecord
from opora.domain.faq_import import BATCH_ROWS, RowProblem
from opora.domain.forms import question_hash
from opora.domain.scope import Scope
from opora.index.faq import FaqWriter
from opora.ports import Page, Repositories

ALL = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """``number`` is the row's place for people."""

    number: int
    draft: FaqDraft
    tag_names: tuple[str, ...] = ()
    """Tags that are named and not known by their ids yet."""


def batches_of(rows: Sequence[Row]) -> list[str]:
    """The rows as texts that wait in the database, a hundred each."""
    steps = [rows[start : start + BATCH_ROWS] for start in range(0, len(rows), BATCH_ROWS)]
    return [json.dumps([plain(row) for row in step], ensure_ascii=False) for step in steps]


def rows_of(batch: str) -> list[Row]:
    return [build(Row, item) for item in json.loads(batch)]


def without_repeats(rows: Sequence[Row]) -> tuple[list[Row], list[RowProblem]]:
    """The first row with a question keeps it."""
    kept: list[Row] = []
    problems: list[RowProblem] = []
    first: dict[str, int] = {}
    for row in rows:
        there = next((first[mark] for mark in row.draft.hashes if mark in first), None)
        if there is not None:
            message = f"A question of this row stands in row {there} already."
            problems.append(RowProblem(row=row.number, field=STANDARD_QUESTION, message=message))
            continue
        kept.append(row)
        first.update(dict.fromkeys(row.draft.hashes, row.number))
    return kept, problems


async def free_rows(
    stored: Repositories, scope: Scope, base_id: str, rows: Sequence[Row]
) -> tuple[list[Row], list[RowProblem]]:
    """Rows none of whose questions an entry of the base has."""
    hashes = {mark for row in rows for mark in row.draft.hashes}
    held = await stored.faq.holders(scope, base_id, hashes)
    free: list[Row] = []
    problems: list[RowProblem] = []
    for row in rows:
        holder = next((held[mark] for mark in row.draft.hashes if mark in held), None)
        if holder is None:
            free.append(row)
        else:
            message = "The base has an entry with a question of this row already."
            problems.append(RowProblem(row=row.number, field=STANDARD_QUESTION, message=message, entry_id=holder))
    return free, problems


async def append(writer: FaqWriter, rows: Sequence[Row]) -> list[RowProblem]:
    rows = await _with_living_tags(writer, rows)
    free, problems = await free_rows(writer.stored, writer.scope, writer.base.base_id, rows)
    await writer.add([row.draft for row in free])
    return problems


async def replace_all(writer: FaqWriter, rows: Sequence[Row]) -> None:
    """Make the rows the entries of the base. An entry with the same standard question keeps its id and its vectors."""
    rows = await _with_living_tags(writer, rows)
    kept = await writer.stored.faq.browse(writer.scope, writer.base.base_id, Page(page=1, page_size=ALL))
    before = {question_hash(one.draft.entry.standard_question): one for one in kept.items}
    changed: dict[str, FaqRecord] = {}
    new: list[FaqDraft] = []
    for row in rows:
        there = before.get(row.draft.hashes[0])
        if there is None:
            new.append(row.draft)
        else:
            changed[there.entry_id] = replace(there, draft=row.draft, updated_at=writer.now)
    await writer.remove([one.entry_id for one in kept.items if one.entry_id not in changed])
    await writer.change(changed)
    await writer.add(new)


async def _with_living_tags(writer: FaqWriter, rows: Sequence[Row]) -> list[Row]:
    """A tag that was deleted while the import waited is taken off, as it was off every entry."""
    named = {tag_id for row in rows for tag_id in row.draft.tag_ids}
    there = await writer.stored.tags.known(writer.scope, named) if named else set()
    if named <= there:
        return list(rows)
    living = [tuple(tag_id for tag_id in row.draft.tag_ids if tag_id in there) for row in rows]
    return [replace(row, draft=replace(row.draft, tag_ids=ids)) for row, ids in zip(rows, living, strict=True)]
