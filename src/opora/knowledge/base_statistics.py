"""Use case: how much a base holds, and when it was last changed."""

from __future__ import annotations

from dataclasses import replace

from opora.domain.bases import BaseStatistics
from opora.domain.scope import Scope
from opora.ports import Database, SearchEngine


class Statistics:
    def __init__(self, database: Database, engine: SearchEngine) -> None:
        self._database = database
        self._engine = engine

    async def of_base(self, scope: Scope, base_id: str) -> BaseStatistics:
        async with self._database.read() as stored:
            found = await stored.bases.statistics(scope, base_id)
        return replace(found, storage_bytes=await self._engine.storage_bytes(scope, base_id))
