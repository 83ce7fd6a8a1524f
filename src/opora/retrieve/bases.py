"""What a search must know of its bases first: what they are, and whether work for them still waits."""

from __future__ import annotations

from opora.domain.errors import NotFound
from opora.domain.knowledge import KnowledgeBase
from opora.domain.scope import Scope
from opora.ports import Database


async def bases_of(database: Database, scope: Scope) -> list[KnowledgeBase]:
    """The bases of a scope in its order; raises `NotFound` when one is gone."""
    by_owner: dict[str, list[str]] = {}
    for ref in scope.bases:
        by_owner.setdefault(ref.tenant_id, []).append(ref.base_id)
    async with database.read() as repos:
        found = {base.base_id: base for owner, ids in by_owner.items() for base in await repos.bases.find(owner, ids)}
    gone = [base_id for base_id in scope.base_ids if base_id not in found]
    if gone:
        raise NotFound("This knowledge base does not exist.", details={"base_id": gone[0]})
    return [found[base_id] for base_id in scope.base_ids]


async def waiting_work(database: Database, scope: Scope) -> list[str]:
    """A warning where an index is still being filled: it must not look like one that holds no answer."""
    async with database.read() as repos:
        waiting = await repos.work.pending(scope.tenant_id)
    return [f"{waiting} documents or steps of documents are still being processed."] if waiting else []
