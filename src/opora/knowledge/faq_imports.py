"""Takes in a list or a file of FAQ entries: says what is wrong with which row, and queues the rest."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from opora.domain.errors import InvalidInput, TooLarge
from opora.domain.faq_import import MAX_ROWS, FaqImport, ImportMode, ImportStatus, RowProblem
from opora.domain.scope import Scope
from opora.domain.tags import Tag
from opora.domain.work import Work, WorkKind
from opora.index.faq_import import Row, batches_of, free_rows, without_repeats
from opora.ingest.faq_rows import draft_of, tag_names_of
from opora.knowledge.faq import faq_base
from opora.knowledge.faq_tags import resolved, with_new
from opora.ports import Clock, Database, Jobs, NewId, Numbered, Parser, Repositories


class FaqImports:
    def __init__(self, database: Database, jobs: Jobs, parser: Parser, *, clock: Clock, new_id: NewId) -> None:
        self._database = database
        self._jobs = jobs
        self._parser = parser
        self._clock = clock
        self._new_id = new_id

    async def read(self, data: bytes, file_name: str) -> list[Numbered]:
        """The rows of a file, read where documents are read: in a guarded child process, within its limits.

        Raises `InvalidInput` when it has no column of questions, and `ParseFailed` with the reason when it is damaged.
        """
        with tempfile.TemporaryDirectory(prefix="opora-faq-") as folder:
            path = Path(folder) / "file"
            await asyncio.to_thread(path.write_bytes, data)
            return await self._parser.read_rows(str(path), file_name=file_name)

    async def start(
        self, scope: Scope, base_id: str, rows: Sequence[Numbered], *, mode: ImportMode, dry_run: bool = False
    ) -> FaqImport:
        """Queue the good rows. With ``replace``, one bad row refuses all and nothing is changed.

        ``dry_run`` keeps nothing: the report says what an import would do. Otherwise the rows whose questions are
        taken are found out by the worker, and stand in the import's problems when it is done.
        """
        if not rows:
            raise InvalidInput.of("entries", "There is no entry to import.")
        if len(rows) > MAX_ROWS:
            raise TooLarge(f"An import has at most {MAX_ROWS} entries.", hint="Import them in parts.")
        good, problems = await asyncio.to_thread(_checked, rows)
        async with self._database.read() as stored:
            base = await faq_base(stored, scope, base_id)
            found = await resolved(stored, scope, base_id, good)
            good, problems = list(found.rows), sorted((*problems, *found.problems), key=lambda problem: problem.row)
            if dry_run and mode is ImportMode.APPEND:
                good, taken = await free_rows(stored, scope, base_id, good)
                problems = sorted((*problems, *taken), key=lambda problem: problem.row)
        now = self._clock()
        task = FaqImport(
            task_id="" if dry_run else self._new_id(),
            tenant_id=base.tenant_id,
            base_id=base_id,
            mode=mode,
            total=len(rows),
            done=len(problems),
            problems=tuple(problems),
            new_tags=tuple(found.new_tags.values()),
            created_at=now,
            updated_at=now,
        )
        if mode is ImportMode.REPLACE and problems:
            error = f"{len(problems)} rows do not fit, so nothing was replaced."
            task, good = replace(task, status=ImportStatus.FAILED, done=len(rows), error=error), []
        elif dry_run or not good:
            task = replace(task, status=ImportStatus.COMPLETED, done=len(rows), added=len(good) if dry_run else 0)
        if not dry_run:
            await self._queue(scope, task, good)
        return task

    async def _make_tags(
        self, stored: Repositories, scope: Scope, task: FaqImport, names: Mapping[str, str]
    ) -> dict[str, str]:
        """Ids of the new tags by their folded names; none for an import that changes nothing."""
        made: dict[str, str] = {}
        for folded, name in names.items() if task.status is ImportStatus.PENDING else ():
            made[folded] = self._new_id()
            tag = Tag(
                tag_id=made[folded],
                tenant_id=task.tenant_id,
                base_id=task.base_id,
                name=name,
                created_at=task.created_at,
                updated_at=task.created_at,
            )
            await stored.tags.add(scope, tag)
        return made

    async def get(self, scope: Scope, task_id: str) -> FaqImport:
        async with self._database.read() as stored:
            return await stored.faq.get_import(scope, task_id)

    async def _queue(self, scope: Scope, task: FaqImport, good: Sequence[Row]) -> None:
        async with self._database.begin() as stored:
            # Once more, and in the transaction that makes them: tags may have come and gone.
            found = await resolved(stored, scope, task.base_id, good)
            made = await self._make_tags(stored, scope, task, found.new_tags)
            batches = await asyncio.to_thread(lambda: batches_of(with_new(found.rows, made)))
            task = replace(task, problems=(*task.problems, *found.problems), done=task.done + len(found.problems))
            await stored.faq.add_import(scope, task, batches)
            if task.status is ImportStatus.PENDING:
                work = Work.new(WorkKind.IMPORT_FAQ, task.task_id, of=task, work_id=self._new_id(), now=task.created_at)
                await stored.work.add(work)
        self._jobs.wake()


def _checked(rows: Sequence[Numbered]) -> tuple[list[Row], list[RowProblem]]:
    good: list[Row] = []
    problems: list[RowProblem] = []
    for number, values in rows:
        try:
            good.append(Row(number=number, draft=draft_of(values), tag_names=tag_names_of(values)))
        except InvalidInput as error:
            field = str(error.details.get("field", ""))
            problems.append(RowProblem(row=number, field=field, message=error.message))
    good, repeated = without_repeats(good)
    return good, sorted((*problems, *repeated), key=lambda problem: problem.row)
