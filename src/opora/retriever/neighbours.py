"""Reads what stands beside the pieces that were found, with the vectors, and has `expansion` choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import cast

from opora.domain.context import ContextResult
from opora.domain.knowledge import ChunkType, KnowledgeBase
from opora.domain.scope import Scope
from opora.domain.search import Capability
from opora.ports import Database, VectorReader, Vectors
from opora.retrieve.arms import EngineDirectory
from opora.retrieve.fanout import MAX_GROUPS_AT_ONCE, all_or_nothing, within
from opora.retriever.expansion import REACH, expanded
from opora.retriever.results import result_of


class Neighbours:
    def __init__(self, *, database: Database, engines: EngineDirectory, seconds: float) -> None:
        self._database = database
        self._engines = engines
        self._seconds = seconds

    async def add(
        self, scope: Scope, bases: Sequence[KnowledgeBase], found: Sequence[ContextResult]
    ) -> tuple[list[ContextResult], tuple[str, ...]]:
        """What was found with its neighbours, and a warning where an engine can't give vectors back."""
        readers, without = self._readers(bases)
        grown = [one for one in found if one.chunk_type is not ChunkType.FAQ and one.base_id in readers]
        pieces = await self._around(scope, grown)
        vectors = await self._vectors(scope, readers, [*grown, *pieces.values()]) if pieces else {}
        warned = f"No neighbours were looked for, since the engine keeps no vectors to read: {', '.join(without)}."
        lacks = bool(without) and any(one.base_id not in readers for one in found)
        return expanded(found, pieces, vectors), (warned,) if lacks else ()

    def _readers(self, bases: Sequence[KnowledgeBase]) -> tuple[dict[str, VectorReader], list[str]]:
        readers: dict[str, VectorReader] = {}
        without = []
        for base in bases:
            engine = self._engines.engine_for(base)
            if Capability.STORED_VECTORS in engine.capabilities:
                readers[base.base_id] = cast(VectorReader, engine)
            else:
                without.append(base.name)
        return readers, sorted(without)

    async def _around(self, scope: Scope, found: Sequence[ContextResult]) -> dict[str, ContextResult]:
        """Pieces up to `REACH` steps away that the scope may see, by id, without those that were found."""
        known = {one.chunk_id: one for one in found}
        around: dict[str, ContextResult] = {}
        edge: Sequence[ContextResult] = found
        for _ in range(REACH):
            wanted = {one for piece in edge for one in (piece.pre_chunk_id, piece.next_chunk_id) if one}
            wanted -= known.keys() | around.keys()
            if not wanted:
                break
            async with self._database.read() as repos:
                read = await repos.chunks.hydrate(scope, sorted(wanted))
            edge = [result_of(text) for text in read.values()]
            around |= {piece.chunk_id: piece for piece in edge}
        return around

    async def _vectors(
        self, scope: Scope, readers: Mapping[str, VectorReader], pieces: Sequence[ContextResult]
    ) -> dict[str, Vectors]:
        by_base: dict[str, list[str]] = {}
        for piece in pieces:
            by_base.setdefault(piece.base_id, []).append(piece.chunk_id)
        calls = [
            partial(self._of_base, readers[base_id], scope, base_id, chunk_ids)
            for base_id, chunk_ids in sorted(by_base.items())
        ]
        read = await all_or_nothing(calls, at_once=MAX_GROUPS_AT_ONCE)
        return {chunk_id: vector for vectors in read for chunk_id, vector in vectors.items()}

    async def _of_base(
        self, reader: VectorReader, scope: Scope, base_id: str, chunk_ids: Sequence[str]
    ) -> dict[str, Vectors]:
        call = reader.vectors(scope, base_id, chunk_ids)
        return await within(self._seconds, call, what="Reading vectors for neighbours")
