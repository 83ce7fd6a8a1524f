"""Rows as points of Qdrant and back: ids, payloads, filters. Values only, never a query's text."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from qdrant_client import models

from opora.domain.scope import Scope
from opora.domain.search import IndexRow
from opora.text.fold import clean
from opora.text.terms import index_terms

KEYWORDS = ("place", "document_id", "chunk_id", "tag_ids", "terms")
"""Fields of the payload that are indexed as they are."""
_IN_FILTER = 1_000
"""Values of one condition."""


def point_id(tenant_id: str, base_id: str, chunk_id: str) -> str:
    """Qdrant takes numbers and UUIDs alone."""
    return str(uuid5(NAMESPACE_OID, "\0".join((tenant_id, base_id, chunk_id))))


def place_of(tenant_id: str, base_id: str) -> str:
    """A base under its tenant, as one value to filter by: a base is its owner's alone."""
    return f"{tenant_id}/{base_id}"


def payload_of(row: IndexRow) -> dict[str, Any]:
    text = clean(row.text)
    return {
        "place": place_of(row.tenant_id, row.base_id),
        "base_id": row.base_id,
        "document_id": row.document_id,
        "chunk_id": row.chunk_id,
        "chunk_type": row.chunk_type.value,
        "enabled": row.enabled,
        "tag_ids": list(row.tag_ids),
        "text": text,
        "terms": sorted(set(index_terms(text))),
    }


def in_scope(scope: Scope, *more: models.Condition) -> models.Filter:
    """What a search may see, before anything is cut."""
    must: list[models.Condition] = [_any("place", [place_of(one.tenant_id, one.base_id) for one in scope.bases]), *more]
    if scope.document_ids is not None:
        must.append(_any("document_id", scope.document_ids))
    if scope.tag_ids is not None:
        must.append(_any("tag_ids", scope.tag_ids))
    if not scope.include_disabled:
        must.append(models.FieldCondition(key="enabled", match=models.MatchValue(value=True)))
    return models.Filter(must=must)


def of_base(tenant_id: str, base_id: str, **fields: Collection[str]) -> models.Filter:
    """Rows of a base, those with one of the values where a field is named."""
    conditions: list[models.Condition] = [_any("place", [place_of(tenant_id, base_id)])]
    return models.Filter(must=[*conditions, *(_any(name, values) for name, values in fields.items())])


def has_any(terms: Collection[str]) -> models.Condition:
    return _any("terms", terms)


def _any(key: str, values: Collection[str]) -> models.Condition:
    """Nothing is any of no values."""
    listed = sorted(set(values))
    steps = [listed[start : start + _IN_FILTER] for start in range(0, len(listed), _IN_FILTER)] or [[]]
    conditions: list[models.Condition] = [
        models.FieldCondition(key=key, match=models.MatchAny(any=step)) for step in steps
    ]
    return conditions[0] if len(conditions) == 1 else models.Filter(should=conditions)


def text_of(payload: Mapping[str, Any] | None) -> str:
    return str((payload or {}).get("text", ""))
