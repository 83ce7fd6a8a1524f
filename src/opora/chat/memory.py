"""Use cases on long-term memory: what is remembered, and whether it is used at all."""

from __future__ import annotations

from dataclasses import replace

from opora.domain.errors import Conflict, InvalidInput
from opora.domain.memory import MAX_MEMORY_CHARS, MAX_MEMORY_ITEMS, MemoryItem
from opora.domain.scope import Scope
from opora.ports import Clock, Database, Listed, NewId, Page
from opora.text.fold import clean


class Memory:
    """Memory belongs to one user of one tenant; everybody else gets `NotFound`."""

    def __init__(self, *, database: Database, clock: Clock, new_id: NewId) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id

    async def enabled(self, scope: Scope) -> bool:
        async with self._database.read() as repositories:
            return await repositories.memory.enabled(scope)

    async def enable(self, scope: Scope, enabled: bool) -> None:
        """Switched off, nothing is recalled; what is remembered stays."""
        async with self._database.begin() as repositories:
            await repositories.memory.enable(scope, enabled)

    async def add(self, scope: Scope, content: str, *, always: bool = False) -> MemoryItem:
        """Raises `InvalidInput` for content that is empty or too long, `Conflict` when the memory is full."""
        now = self._clock()
        item = MemoryItem(
            item_id=self._new_id(),
            tenant_id=scope.tenant_id,
            user_id=scope.principal.user_id,
            content=_checked(content),
            always=always,
            created_at=now,
            updated_at=now,
        )
        async with self._database.begin() as repositories:
            if await repositories.memory.count(scope) >= MAX_MEMORY_ITEMS:
                raise Conflict(
                    f"{MAX_MEMORY_ITEMS} things are remembered already.", hint="Delete one that is no longer needed."
                )
            await repositories.memory.add(scope, item)
        return item

    async def browse(self, scope: Scope, page: Page) -> Listed[MemoryItem]:
        """Newest first."""
        async with self._database.read() as repositories:
            return await repositories.memory.browse(scope, page)

    async def update(
        self, scope: Scope, item_id: str, *, content: str | None = None, always: bool | None = None
    ) -> MemoryItem:
        async with self._database.begin() as repositories:
            item = await repositories.memory.get(scope, item_id)
            item = replace(
                item,
                content=item.content if content is None else _checked(content),
                always=item.always if always is None else always,
                updated_at=self._clock(),
            )
            await repositories.memory.update(scope, item)
        return item

    async def delete(self, scope: Scope, item_id: str) -> None:
        async with self._database.begin() as repositories:
            await repositories.memory.delete(scope, item_id)

    async def clear(self, scope: Scope) -> int:
        """Forget everything; returns how many items that were."""
        async with self._database.begin() as repositories:
            return await repositories.memory.clear(scope)


def _checked(content: str) -> str:
    text = clean(content).strip()
    if not text:
        raise InvalidInput.of("content", "There is nothing to remember.")
    if len(text) > MAX_MEMORY_CHARS:
        raise InvalidInput.of("content", f"What is remembered has at most {MAX_MEMORY_CHARS} characters.")
    return text
