"""The graph in the relational database: what an installation has without Neo4j, for bases of a modest size."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from opora.domain.graph import ChunkFacts
from opora.domain.scope import Scope
from opora.graph.walk import related_chunks
from opora.ports import Database


class EmbeddedGraph:
    """Implements `opora.ports.EntityGraph`. Rows go with their chunks, so that nothing of it is ever deleted apart."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def chunk_ids(self, scope: Scope, entities: Sequence[str]) -> list[str]:
        async with self._database.read() as stored:
            return await related_chunks(stored.graph, scope, entities)

    async def replace_document(
        self, scope: Scope, base_id: str, document_id: str, chunks: Sequence[ChunkFacts]
    ) -> None:
        async with self._database.begin() as stored:
            await stored.graph.replace(scope, document_id, chunks)

    async def delete_documents(self, scope: Scope, base_id: str, document_ids: Collection[str]) -> None:
        """The rows of chunks that are gone are gone with them."""

    async def delete_base(self, scope: Scope, base_id: str) -> None:
        """As for documents."""

    async def check(self) -> str:
        return "in the database"

    async def close(self) -> None: ...
