"""Takes in a list or a file of FAQ entries: says what is wrong with which row, and queues the rest."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from opora.domain.errors import InvalidInput, TooLarge
from opora.domain.faq_import import MAX_ROWS, FaqImport, ImportMode, ImportStatus, RowProblem
from opora.domain.scope import Scope
from opora.domain.work import Work, WorkKind
from opora.index.faq_import import Row, batches_of, free_rows, without_repeats
from opora.ingest.faq_file import Numbered, read_file
from opora.ingest.faq_rows import draft_of
from opora.ingest.limits import ParseLimits
from opora.knowledge.faq import faq_base
from opora.ports import Clock, Database, Jobs, NewId


class FaqImports:
    def __init__(self, database: Database, jobs: Jobs, limits: ParseLimits, *, clock: Clock, new_id: NewId) -> None:
        self._database = database
        self._jobs = jobs
        self._limits = limits
        self._clock = clock
        self._new_id = new_id

    async def read(self, data: bytes, file_name: str) -> list[Numbered]:
        return await asyncio.to_thread(read_file, data, file_name, self._limits)

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

    async def get(self, scope: Scope, task_id: str) -> FaqImport:
        async with self._database.read() as stored:
            return await stored.faq.get_import(scope, task_id)

    async def _queue(self, scope: Scope, task: FaqImport, good: Sequence[Row]) -> None:
        batches = await asyncio.to_thread(batches_of, good)
        async with self._database.begin() as stored:
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
            good.append(Row(number=number, draft=draft_of(values)))
        except InvalidInput as error:
            field = str(error.details.get("field", ""))
            problems.append(RowProblem(row=number, field=field, message=error.message))
    good, repeated = without_repeats(good)
    return good, sorted((*problems, *repeated), key=lambda problem: problem.row)
