"""What of a base a scope may see, decided before anything is ranked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

import apsw
import numpy as np
import numpy.typing as npt

from opora.domain.scope import Scope
from opora.engines.sqlite.rows import Keys, numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """A knowledge base as the index holds it."""

    key: int
    base_id: str
    erased: int


def bases_of(connection: apsw.Connection, scope: Scope) -> list[Base]:
    """The bases of the scope that the index has, each asked for by its own tenant."""
    found = []
    for base_id, tenant_id in sorted({(base.base_id, base.tenant_id) for base in scope.bases}):
        row = connection.execute(
            "SELECT key, erased FROM base WHERE tenant_id = ? AND base_id = ?", (tenant_id, base_id)
        ).fetchone()
        if row is not None:
            found.append(Base(key=row[0], base_id=base_id, erased=row[1]))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Visible:
    """Rows that may be seen: ``only`` these, or all but ``hidden``."""

    only: Keys | None
    hidden: Keys

    def mask(self, keys: Keys) -> npt.NDArray[np.bool_] | None:
        """True where a row may be seen; None when all may."""
        if self.only is not None:
            return np.isin(keys, self.only, assume_unique=True)
        if self.hidden.size:
            return np.isin(keys, self.hidden, assume_unique=True, invert=True)
        return None


def visible(connection: apsw.Connection, base: Base, scope: Scope, column: Literal["id", "slot"]) -> Visible:
    """The rows of a base that the scope may see, named by row number or by vector slot."""
    bindings: dict[str, Any] = {"base": base.key}
    limits = []
    if scope.document_ids is not None:
        limits.append("document_id IN (SELECT value FROM json_each(:documents))")
        bindings["documents"] = json.dumps(sorted(scope.document_ids))
    if scope.tag_ids is not None:
        limits.append("id IN (SELECT id FROM tag WHERE tag_id IN (SELECT value FROM json_each(:tags)))")
        bindings["tags"] = json.dumps(sorted(scope.tag_ids))
    nothing = np.empty(0, np.int64)
    select = f"SELECT group_concat({column}) FROM row WHERE base = :base"
    if not limits:
        if scope.include_disabled:
            return Visible(only=None, hidden=nothing)
        return Visible(only=None, hidden=numbers(connection, f"{select} AND enabled = 0", bindings))
    if not scope.include_disabled:
        limits.append("enabled = 1")
    return Visible(only=numbers(connection, f"{select} AND {' AND '.join(limits)}", bindings), hidden=nothing)
