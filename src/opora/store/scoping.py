"""The one place where a scope becomes SQL: every query on bases' content goes through these conditions."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa

from opora.domain.scope import Scope
from opora.store.codec import TAG_END, dump
from opora.store.tables import bases, chunks, documents
from opora.store.types import position, unfolded
from opora.text.fold import fold

Condition = sa.ColumnElement[bool]

IN_STEP = 500
"""Ids a query: more are asked for in steps, so that no database's limit of parameters is met."""


def of_bases(table: sa.Table, scope: Scope) -> Condition:
    """Rows of the scope's bases, each under the tenant that owns it."""
    pairs = [(base.base_id, base.tenant_id) for base in scope.bases]
    return sa.tuple_(table.c.base_id, table.c.tenant_id).in_(pairs) if pairs else sa.false()


def of_documents(scope: Scope) -> Condition:
    """Documents that the scope holds."""
    condition = of_bases(documents, scope)
    if scope.document_ids is None:
        return condition
    return sa.and_(condition, among(documents.c.document_id, scope.document_ids))


def in_shown_base() -> Condition:
    """Documents whose base is in lists; a base on its way in or out is not."""
    return sa.exists().where(bases.c.base_id == documents.c.base_id, sa.not_(bases.c.is_hidden))


def of_chunks(scope: Scope) -> Condition:
    """Chunks that the scope holds, by base, document, tag and enabled state."""
    parts = [of_bases(chunks, scope)]
    if scope.document_ids is not None:
        parts.append(among(chunks.c.document_id, scope.document_ids))
    if scope.tag_ids is not None:
        tags = [position(chunks.c.tag_ids, f"{TAG_END}{tag}{TAG_END}") > 0 for tag in sorted(scope.tag_ids)]
        parts.append(sa.or_(sa.false(), *tags))
    if not scope.include_disabled:
        parts.append(chunks.c.enabled)
    return sa.and_(*parts)


def among(column: sa.ColumnElement[str], ids: Collection[str]) -> Condition:
    """The column has one of the ids, of which there may be more than a statement takes parameters."""
    if len(ids) <= IN_STEP:
        return column.in_(sorted(ids))
    return column.op("IN")(unfolded(dump(sorted(ids))))


def folded(*texts: str) -> str:
    """Text as names are compared: databases fold only Latin letters by themselves."""
    return fold("\n".join(texts))


def in_steps(ids: Collection[str]) -> list[list[str]]:
    ordered = sorted(ids)
    return [ordered[i : i + IN_STEP] for i in range(0, len(ordered), IN_STEP)]
