"""How far documents are enriched, in the relational store."""

from __future__ import annotations

import sqlalchemy as sa

from opora.domain.enrichment import Enrichment, EnrichmentStep
from opora.domain.scope import Scope
from opora.store.codec import dump_tags, load_tags
from opora.store.connection import Connection
from opora.store.scoping import of_bases
from opora.store.tables import enrichments
from opora.store.types import insert_into

_c = enrichments.c


class SqlEnrichments:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def get(self, scope: Scope, document_id: str) -> Enrichment | None:
        query = sa.select(enrichments).where(_c.document_id == document_id, of_bases(enrichments, scope))
        row = (await self._connection.execute(query)).one_or_none()
        if row is None:
            return None
        return Enrichment(
            document_id=row.document_id,
            version=row.version,
            tokens=row.tokens,
            done=tuple(EnrichmentStep(step) for step in load_tags(row.done)),
            reason=row.reason,
            summary=row.summary,
        )

    async def forget_reasons(self, scope: Scope, base_id: str) -> None:
        which = (_c.base_id == base_id, of_bases(enrichments, scope), _c.reason != "")
        await self._connection.execute(sa.update(enrichments).where(*which).values(reason="", tokens=0))

    async def put(self, scope: Scope, base_id: str, enrichment: Enrichment) -> None:
        values = {
            "base_id": base_id,
            "tenant_id": scope.owner_of(base_id),
            "version": enrichment.version,
            "tokens": enrichment.tokens,
            "done": dump_tags(enrichment.done),
            "reason": enrichment.reason,
            "summary": enrichment.summary,
        }
        insert = insert_into(self._connection, enrichments).values(document_id=enrichment.document_id, **values)
        await self._connection.execute(insert.on_conflict_do_update(index_elements=[_c.document_id], set_=values))
