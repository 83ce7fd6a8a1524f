"""How often each caller's answers cited a document: what memory affinity goes by."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa

from opora.domain.scope import Scope
from opora.store.connection import Connection
from opora.store.scoping import in_steps, of_documents
from opora.store.tables import citation_counts, documents
from opora.store.types import insert_into

_c = citation_counts.c


class SqlCitations:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def add(self, scope: Scope, document_ids: Collection[str]) -> None:
        for step in in_steps(document_ids):
            # The rows come from the documents themselves: one that went away meanwhile, or that the scope does not
            # hold, is passed over.
            cited = sa.select(
                sa.literal(scope.tenant_id), sa.literal(scope.principal.user_id), documents.c.document_id, sa.literal(1)
            ).where(documents.c.document_id.in_(step), of_documents(scope))
            insert = insert_into(self._connection, citation_counts).from_select(
                [_c.tenant_id, _c.user_id, _c.document_id, _c.uses], cited
            )
            await self._connection.execute(
                insert.on_conflict_do_update(
                    index_elements=[_c.tenant_id, _c.user_id, _c.document_id], set_={"uses": _c.uses + 1}
                )
            )

    async def uses(self, scope: Scope, document_ids: Collection[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        for step in in_steps(document_ids):
            query = sa.select(_c.document_id, _c.uses).where(
                _c.tenant_id == scope.tenant_id, _c.user_id == scope.principal.user_id, _c.document_id.in_(step)
            )
            found |= {row.document_id: row.uses for row in await self._connection.execute(query)}
        return found
