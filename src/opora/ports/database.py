"""Transactions, and the repositories that a whole installation has."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol

from opora.domain.agents import Agent, TenantSettings
from opora.domain.models import ModelEntry
from opora.domain.scope import Scope
from opora.domain.work import Work, WorkKind
from opora.ports.conversation import (
    CitationRepository,
    ImageRepository,
    MemoryRepository,
    MessageRepository,
    RoundRepository,
    SessionRepository,
)
from opora.ports.faq import FaqRepository
from opora.ports.knowledge import (
    BaseRepository,
    ChunkRepository,
    CopyRepository,
    DocumentRepository,
    EnrichmentRepository,
    GraphRepository,
    RevisionRepository,
    StepRepository,
    TagRepository,
)
from opora.ports.values import NewId


class ModelRepository(Protocol):
    """The registry of the scope's tenant; another tenant's entry raises `NotFound`."""

    async def add(self, scope: Scope, entry: ModelEntry) -> None: ...
    async def get(self, scope: Scope, model_id: str) -> ModelEntry: ...
    async def all(self, scope: Scope) -> list[ModelEntry]:
        """Oldest first."""
        ...

    async def update(self, scope: Scope, entry: ModelEntry) -> None: ...
    async def delete(self, scope: Scope, model_id: str) -> None: ...
    async def sealed_key(self, scope: Scope, model_id: str) -> str:
        """As `Secrets` sealed it; '' for none."""
        ...

    async def seal_key(self, scope: Scope, model_id: str, token: str) -> None:
        """Keep a sealed key; '' takes it away."""
        ...


class AgentRepository(Protocol):
    """Settings and agents of the scope's tenant; another tenant's agent raises `NotFound`."""

    async def settings(self, scope: Scope) -> TenantSettings: ...
    async def put_settings(self, scope: Scope, settings: TenantSettings) -> None: ...
    async def add(self, scope: Scope, agent: Agent) -> None: ...
    async def get(self, scope: Scope, agent_id: str) -> Agent: ...
    async def all(self, scope: Scope) -> list[Agent]:
        """Oldest first."""
        ...

    async def update(self, scope: Scope, agent: Agent) -> None: ...
    async def delete(self, scope: Scope, agent_id: str) -> None: ...


class WorkRepository(Protocol):
    """Work that must happen: rows with leases, committed together with what made them necessary."""

    async def add(self, work: Work) -> None:
        """Add, or do nothing where the same (kind, subject) waits already."""
        ...

    async def lease(
        self, owner: str, now: datetime, until: datetime, kinds: Collection[WorkKind] | None = None
    ) -> Work | None:
        """Take the oldest due work that nobody holds, marking it held by ``owner`` until then.

        One subject is worked on by one holder at a time, and a base is deleted when nothing else in it is held.
        """
        ...

    async def extend(self, work_id: str, owner: str, until: datetime) -> bool:
        """False when the lease was lost."""
        ...

    async def finish(self, work_id: str) -> None: ...
    async def retry(self, work_id: str, not_before: datetime, error: str) -> None:
        """Release for another try; ``attempts`` grows by one."""
        ...

    async def release_all(self) -> None:
        """Free every lease; called at the start of a server that is alone."""
        ...

    async def cancel(self, kind: WorkKind, subject: str) -> None:
        """Take back work that waits; what somebody holds is left to them."""
        ...

    async def is_due(self, now: datetime) -> bool:
        """Whether work waits that somebody could take at once."""
        ...

    async def pending(self, tenant_id: str | None = None) -> int: ...
    async def waiting(self, subject: str) -> set[WorkKind]:
        """Kinds of work on a subject, held or not."""
        ...

    async def chunks_ahead(self, document_id: str) -> int | None:
        """Chunks to be embedded up to the end of this document, in the order of the queue; None when not queued."""
        ...

    async def add_for_documents(self, kind: WorkKind, now: datetime, new_id: NewId, base_id: str | None = None) -> int:
        """Queue work on every document that has chunks (of a base, or all), marking it as being processed; one that is
        only enriched, or written to the graph, stays as it is.

        Embedding is queued for those that lack vectors only."""
        ...


class Repositories(Protocol):
    """One open transaction: everything done through it is committed, or rolled back, together."""

    @property
    def bases(self) -> BaseRepository: ...
    @property
    def copies(self) -> CopyRepository: ...
    @property
    def documents(self) -> DocumentRepository: ...
    @property
    def chunks(self) -> ChunkRepository: ...
    @property
    def tags(self) -> TagRepository: ...
    @property
    def revisions(self) -> RevisionRepository: ...
    @property
    def steps(self) -> StepRepository: ...
    @property
    def enrichments(self) -> EnrichmentRepository: ...
    @property
    def graph(self) -> GraphRepository: ...
    @property
    def sessions(self) -> SessionRepository: ...
    @property
    def messages(self) -> MessageRepository: ...
    @property
    def images(self) -> ImageRepository: ...
    @property
    def rounds(self) -> RoundRepository: ...
    @property
    def citations(self) -> CitationRepository: ...
    @property
    def memory(self) -> MemoryRepository: ...
    @property
    def agents(self) -> AgentRepository: ...
    @property
    def models(self) -> ModelRepository: ...
    @property
    def faq(self) -> FaqRepository: ...
    @property
    def work(self) -> WorkRepository: ...

    async def get_fact(self, name: str) -> str | None:
        """A stored fact of the installation, such as the engine generation or the model's dimension."""
        ...

    async def set_fact(self, name: str, value: str) -> None: ...


class Database(Protocol):
    def begin(self) -> AbstractAsyncContextManager[Repositories]:
        """A writing transaction: commits at the end of the block, rolls back on an exception."""
        ...

    def read(self) -> AbstractAsyncContextManager[Repositories]:
        """A reading transaction on a consistent snapshot."""
        ...

    @property
    def place(self) -> str:
        """Where it is, for people: a path, or an address without its password."""
        ...

    async def own(self, *, shared: bool = False) -> bool:
        """Keep other servers out until `close`; with ``shared``, only those that do not share.

        True when no other server works here; others that would share wait then for `started`. Raises `Busy` when
        another server has it.
        """
        ...

    async def started(self) -> None:
        """What one server alone may put right is put right: let others start."""
        ...

    async def backup(self, target: str) -> None:
        """Write a consistent copy of the database to a file."""
        ...

    async def close(self) -> None: ...
