"""Repository of FAQ entries and their imports."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from opora.domain.faq_entry import FaqRecord
from opora.domain.faq_import import FaqImport
from opora.domain.scope import Scope
from opora.ports.values import Listed, Page


class FaqRepository(Protocol):
    """Entries inside the bases of a scope. Their chunks are kept by `ChunkRepository`, and take them along."""

    async def number(self, scope: Scope, base_id: str, count: int) -> int:
        """Take ``count`` numbers that were never given in this base; returns the first."""
        ...

    async def put(self, scope: Scope, records: Sequence[FaqRecord]) -> None:
        """Keep entries whose chunks are there, in the place of what was known of them, with questions that are free."""
        ...

    async def release(self, scope: Scope, entry_ids: Collection[str]) -> None:
        """Give the questions of these entries free, for others or for their next state."""
        ...

    async def holders(self, scope: Scope, base_id: str, hashes: Collection[str]) -> dict[str, str]:
        """Question hash -> the entry of the base that has it."""
        ...

    async def get_many(
        self, scope: Scope, base_id: str, *, entry_ids: Collection[str] = (), seq_ids: Collection[int] = ()
    ) -> list[FaqRecord]: ...

    async def browse(
        self,
        scope: Scope,
        base_id: str,
        page: Page,
        *,
        tag_id: str = "",
        is_enabled: bool | None = None,
        is_recommended: bool | None = None,
        keyword: str = "",
    ) -> Listed[FaqRecord]:
        """In the order of their numbers."""
        ...

    async def add_import(self, scope: Scope, task: FaqImport, batches: Sequence[str]) -> None: ...
    async def import_base(self, tenant_id: str, task_id: str) -> str:
        """The base that an import goes to; raises `NotFound`. For deciding access."""
        ...

    async def get_import(self, scope: Scope, task_id: str) -> FaqImport: ...
    async def update_import(self, scope: Scope, task: FaqImport) -> None: ...
    async def next_batches(self, task_id: str, *, limit: int) -> list[tuple[int, str]]: ...
    async def drop_batches(self, task_id: str, numbers: Collection[int]) -> None: ...
