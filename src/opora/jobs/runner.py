"""Workers in this process: they take work from the database, keep its lease, and settle what comes of it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from opora.domain.errors import OporaError, ParseFailed, Unavailable
from opora.domain.knowledge import ParseReason
from opora.domain.work import Work, WorkKind
from opora.jobs.copy_base import copy_base
from opora.jobs.delete import clean_chunks, delete_base, delete_document
from opora.jobs.describe import describe_base
from opora.jobs.embed import BATCH, Embedding
from opora.jobs.enrich import enrich
from opora.jobs.graph import write_graph
from opora.jobs.ground import LEASE, Ground, LeaseLost
from opora.jobs.import_faq import import_faq
from opora.jobs.ingest import fail, ingest
from opora.jobs.mend import mend_base
from opora.jobs.pace import Pace
from opora.jobs.reindex import reindex
from opora.jobs.start import put_right
from opora.jobs.transfer import copy_document, leave_base, move_document

log = logging.getLogger(__name__)

Handler = Callable[[Work], Awaitable[None]]

EMBEDS = frozenset({WorkKind.EMBED})
WRITES = frozenset({WorkKind.ENRICH, WorkKind.DESCRIBE_BASE})
INTERRUPTED = frozenset({WorkKind.INGEST, WorkKind.EMBED})
READS = frozenset(WorkKind) - EMBEDS - WRITES
"""Three queues: neither a long document that is being embedded nor a slow chat model keeps others from being read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How failed work is tried again: after ``first`` seconds, doubling up to ``longest``. A document that fails
    ``attempts`` times is given up; taking out what was deleted never is."""

    first: float = 1.0
    longest: float = 300.0
    attempts: int = 8

    def delay(self, attempts: int) -> float:
        return min(self.longest, self.first * 2.0 ** min(attempts, 30))


def _nobody(work: Work, reason: str) -> None:
    """Tells nobody."""


class JobRunner:
    """The workers of one process, and the `Jobs` port by which use cases wake them and wait for them."""

    def __init__(
        self,
        ground: Ground,
        *,
        readers: int = 2,
        embedders: int = 2,
        retries: Retries | None = None,
        batch: int = BATCH,
        safety_seconds: float = 5.0,
        given_up: Callable[[Work, str], None] = _nobody,
    ) -> None:
        """``given_up`` is told of work that is not tried again, and why."""
        self._ground = ground
        self._retries = retries or Retries()
        self._queues = [READS] * readers + [EMBEDS] * embedders + [WRITES]
        self._safety_seconds = safety_seconds
        self._owner = ground.new_id()
        self._pace = Pace()
        self._handlers = _handlers(ground, Embedding(ground, self._pace, batch=batch), self._wake_embedders)
        self._wakers: list[asyncio.Event] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._condition = asyncio.Condition()
        self._changes = 0
        self._running: dict[str, tuple[Work, asyncio.Future[None]]] = {}
        self._interrupted: set[str] = set()
        self._given_up = given_up

    async def start(self, *, alone: bool = True) -> None:
        """Put right what an earlier process left, then work. ``alone``: no other server has these documents."""
        await put_right(self._ground, alone=alone)
        for kinds in self._queues:
            waker = asyncio.Event()
            self._wakers.append(waker)
            self._tasks.append(asyncio.create_task(self._work(kinds, waker)))

    async def close(self) -> None:
        """Stop at once: what was under way is done again from its last step at the next start."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()
        self._wakers.clear()

    def wake(self) -> None:
        for waker in self._wakers:
            waker.set()

    def _wake_embedders(self) -> None:
        """Work for them alone was committed by a worker of this process."""
        for kinds, waker in zip(self._queues, self._wakers, strict=False):
            if kinds == EMBEDS:
                waker.set()

    def interrupt(self, subject: str) -> None:
        for held, job in self._running.values():
            if held.subject == subject and held.kind in INTERRUPTED:
                self._interrupted.add(held.work_id)
                job.cancel()

    @property
    def changes(self) -> int:
        return self._changes

    async def changed(self, seen: int) -> int:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._safety_seconds), self._condition:
                await self._condition.wait_for(lambda: self._changes > seen)
        return self._changes

    def seconds_for(self, chunks: int) -> float | None:
        return self._pace.seconds_for(chunks)

    async def looked(self) -> None:
        """Have the workers look at the queue, and wait until nothing due waits that they could take now."""
        self.wake()
        while self._tasks:
            seen = self._changes
            async with self._ground.database.read() as stored:
                if not await stored.work.is_due(self._ground.clock()):
                    return
            if len(self._running) >= len(self._queues):
                return
            await self.changed(seen)

    async def idle(self) -> None:
        """Wait until nothing is queued any more."""
        while True:
            seen = self._changes
            async with self._ground.database.read() as stored:
                if await stored.work.pending() == 0:
                    return
            await self.changed(seen)

    async def _work(self, kinds: frozenset[WorkKind], waker: asyncio.Event) -> None:
        while True:
            waker.clear()
            try:
                held = await self._take(kinds)
                if held is not None:
                    await self._do(held)
                    await self._announce()
                    continue
            except Exception:
                log.exception("The queue of work could not be read or written; trying again.")
            with contextlib.suppress(TimeoutError):
                # Not `wait_for`: in Python 3.11 it loses a cancellation that comes just as the wait ends.
                async with asyncio.timeout(self._safety_seconds):
                    await waker.wait()

    async def _take(self, kinds: frozenset[WorkKind]) -> Work | None:
        now = self._ground.clock()
        async with self._ground.database.begin() as stored:
            return await stored.work.lease(self._owner, now, now + LEASE, kinds)

    async def _do(self, held: Work) -> None:
        await self._carry_out(held)
        if self._ground.steps.has(held):
            async with self._ground.database.begin() as stored:
                await self._ground.keep_steps(stored, held)

    async def _carry_out(self, held: Work) -> None:
        job = asyncio.ensure_future(self._handlers[held.kind](held))
        self._running[held.work_id] = (held, job)
        keeper = asyncio.create_task(self._keep_lease(held, job))
        try:
            await job
        except LeaseLost:
            log.warning("The lease of %s %s was lost; its new holder goes on.", held.kind, held.subject)
        except asyncio.CancelledError:
            job.cancel()
            await asyncio.gather(job, return_exceptions=True)
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise
            if held.work_id in self._interrupted:
                await self._drop(held)
        except Exception as error:
            await self._settle(held, error)
        finally:
            self._running.pop(held.work_id, None)
            self._interrupted.discard(held.work_id)
            keeper.cancel()
            await asyncio.gather(keeper, return_exceptions=True)

    async def _drop(self, held: Work) -> None:
        """End work that somebody took back."""
        with contextlib.suppress(LeaseLost):  # its last step had ended it already
            async with self._ground.database.begin() as stored:
                await self._ground.hold(stored, held)
                await stored.work.finish(held.work_id)

    async def _keep_lease(self, held: Work, job: asyncio.Future[None]) -> None:
        while True:
            await asyncio.sleep(LEASE.total_seconds() / 3)
            try:
                async with self._ground.database.begin() as stored:
                    kept = await stored.work.extend(held.work_id, held.lease_owner, self._ground.clock() + LEASE)
            except OporaError:
                log.exception("A lease could not be extended; trying again.")
                continue
            if not kept:
                job.cancel()
                return

    async def _settle(self, held: Work, error: Exception) -> None:
        try:
            if isinstance(error, ParseFailed):
                await fail(self._ground, held, error.reason, _in_words(error))
            elif held.attempts + 1 >= self._retries.attempts and held.kind in _GIVEN_UP:
                log.error("%s %s is given up.", held.kind, held.subject, exc_info=error)
                self._given_up(held, _in_words(error))
                await fail(self._ground, held, _GIVEN_UP[held.kind], _in_words(error))
            else:
                await self._retry(held, error)
        except LeaseLost:
            log.warning("The lease of %s %s was lost; its new holder goes on.", held.kind, held.subject)

    async def _retry(self, held: Work, error: Exception) -> None:
        delay = self._retries.delay(held.attempts)
        known = isinstance(error, Unavailable)
        log.warning(
            "%s %s failed and is tried again in %g s: %s",
            held.kind,
            held.subject,
            delay,
            error,
            exc_info=None if known else error,
        )
        async with self._ground.database.begin() as stored:
            await self._ground.hold(stored, held)
            await stored.work.retry(held.work_id, self._ground.clock() + timedelta(seconds=delay), _in_words(error))
        asyncio.get_running_loop().call_later(delay, self.wake)

    async def _announce(self) -> None:
        """A step ended: others may go on, and whoever waits looks again."""
        self.wake()
        async with self._condition:
            self._changes += 1
            self._condition.notify_all()


_GIVEN_UP: Mapping[WorkKind, str] = {WorkKind.INGEST: ParseReason.INDEXING, WorkKind.EMBED: ParseReason.EMBEDDING}


def _handlers(ground: Ground, embedding: Embedding, wake: Callable[[], None]) -> dict[WorkKind, Handler]:
    return {
        WorkKind.INGEST: lambda work: ingest(ground, work),
        WorkKind.EMBED: embedding.run,
        WorkKind.REINDEX: lambda work: reindex(ground, work),
        WorkKind.ENRICH: lambda work: enrich(ground, work),
        WorkKind.GRAPH: lambda work: write_graph(ground, work),
        WorkKind.DESCRIBE_BASE: lambda work: describe_base(ground, work),
        WorkKind.IMPORT_FAQ: lambda work: import_faq(ground, work, wake),
        WorkKind.MOVE_DOCUMENT: lambda work: move_document(ground, work),
        WorkKind.LEAVE_BASE: lambda work: leave_base(ground, work),
        WorkKind.COPY_DOCUMENT: lambda work: copy_document(ground, work),
        WorkKind.CLEAN_CHUNKS: lambda work: clean_chunks(ground, work),
        WorkKind.DELETE_DOCUMENT: lambda work: delete_document(ground, work),
        WorkKind.COPY_BASE: lambda work: copy_base(ground, work),
        WorkKind.MEND_BASE: lambda work: mend_base(ground, work),
        WorkKind.DELETE_BASE: lambda work: delete_base(ground, work),
    }


def _in_words(error: Exception) -> str:
    if isinstance(error, OporaError):
        return f"{error.message} {error.hint}".strip()
    return "Something went wrong inside Opora; the log says what."
