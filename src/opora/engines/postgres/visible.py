"""What of the index a scope may see: its bases, and the conditions that stand inside each query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from opora.domain.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """A knowledge base as the index holds it: how many rows it has, and how many terms these have together."""

    key: int
    base_id: str
    entries: int
    terms: int


async def bases_of(connection: Any, scope: Scope) -> list[Base]:
    """The bases of the scope that the index has, each asked for by its own tenant."""
    wanted = sorted({(base.tenant_id, base.base_id) for base in scope.bases})
    if not wanted:
        return []
    found = await connection.fetch(
        "SELECT key, base_id, entries, terms FROM bases JOIN unnest($1::text[], $2::text[]) AS w (tenant_id, base_id)"
        " USING (tenant_id, base_id) ORDER BY key",
        [tenant_id for tenant_id, _ in wanted],
        [base_id for _, base_id in wanted],
    )
    return [Base(key=key, base_id=base_id, entries=entries, terms=terms) for key, base_id, entries, terms in found]


class Values:
    """The values of one query in the order of their places: ``place(value)`` is what stands in its text."""

    def __init__(self) -> None:
        self.given: list[Any] = []

    def place(self, value: Any, kind: str = "") -> str:
        self.given.append(value)
        return f"${len(self.given)}{f'::{kind}' if kind else ''}"


def conditions(scope: Scope, values: Values) -> str:
    """What a row must fulfil beside being of the scope's bases; ``true`` where all of them may be seen."""
    limits = [] if scope.include_disabled else ["enabled"]
    if scope.document_ids is not None:
        limits.append(f"document_id = ANY({values.place(sorted(scope.document_ids), 'text[]')})")
    if scope.tag_ids is not None:
        limits.append(f"tag_ids && {values.place(sorted(scope.tag_ids), 'text[]')}")
    return " AND ".join(limits) or "true"


def is_narrow(scope: Scope) -> bool:
    """Whether the scope is more than whole bases."""
    return scope.document_ids is not None or scope.tag_ids is not None
