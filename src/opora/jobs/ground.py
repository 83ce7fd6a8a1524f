"""What every job stands on: the ports it works through, and what one piece of held work knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

from opora.domain.errors import OporaError
from opora.domain.scope import Scope
from opora.domain.work import Work, WorkKind
from opora.jobs.steps import OF_DOCUMENTS, StepLog
from opora.ports import (
    Blobs,
    ChatModel,
    Clock,
    Database,
    Embedders,
    EntityGraph,
    NewId,
    Parser,
    Repositories,
    SearchEngine,
    Splitter,
)

LEASE = timedelta(seconds=60)
"""A worker that does not report for so long is taken for dead."""

ScopeOf = Callable[[str, str], Scope]
"""The scope of queued work from tenant and base id; `opora.access` gives it."""


class LeaseLost(OporaError):
    """Somebody else holds the work now: whatever was not committed yet must not be."""

    code = "lease_lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    database: Database
    engine: SearchEngine
    blobs: Blobs
    parser: Parser
    splitter: Splitter
    embedders: Embedders
    writer: ChatModel | None = None
    """The chat model that enriches documents; None: they are not enriched."""
    graph: EntityGraph
    """What the chunks of bases that keep a graph say goes there too."""
    scope_of: ScopeOf
    clock: Clock
    new_id: NewId
    steps: StepLog = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", StepLog(self.clock, self.new_id))

    async def hold(self, stored: Repositories, held: Work) -> None:
        """Inside a transaction: commit only while the work is ours; raises `LeaseLost`."""
        if not await stored.work.extend(held.work_id, held.lease_owner, self.clock() + LEASE):
            raise LeaseLost("The work was taken over.", details={"work_id": held.work_id})

    def follow_up(self, held: Work, kind: WorkKind) -> Work:
        """Another step on the same subject, to be added in the transaction that made it necessary."""
        return Work.new(kind, held.subject, of=held, work_id=self.new_id(), now=self.clock())

    async def keep_steps(self, stored: Repositories, held: Work) -> None:
        """Store what the steps of the work did; where its document is gone, nothing is kept."""
        steps = self.steps.take(held)
        if steps and held.kind in OF_DOCUMENTS:
            scope = self.scope_of(held.tenant_id, held.base_id)
            if held.kind is WorkKind.MOVE_DOCUMENT:
                moved = self.scope_of(held.tenant_id, held.aim)
                scope = replace(scope, bases=(*scope.bases, *moved.bases))
            await stored.steps.add(scope, held.subject, steps, is_attempt=held.kind is WorkKind.INGEST)
